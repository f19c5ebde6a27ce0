// Elements of arrays, which kernels compute with as float, whatever type they are stored in: float, Float16 or BFloat16.
//
//   template <class E>
//   struct Square {
//     In<E> x;
//     PITWALL_DEVICE float operator()(std::int64_t i) const { return x[i] * x[i]; }
//   };
//   launch.map(n, arrayOut<E>(args, 0), Square<E>{arrayIn<E>(args, 0)});
#pragma once

#include "runtime/backend/gpu_kernels/launch.h"
#include "runtime/short_float.h"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace pitwall::gpu_kernels {

PITWALL_DEVICE float loaded(float x) { return x; }

#ifdef __CUDACC__
PITWALL_DEVICE float loaded(Float16 x) { return __half2float(__ushort_as_half(x.bits)); }
PITWALL_DEVICE float loaded(BFloat16 x) { return __bfloat162float(__ushort_as_bfloat16(x.bits)); }
#else
PITWALL_DEVICE float loaded(Float16 x) { return toFloat(x); }
PITWALL_DEVICE float loaded(BFloat16 x) { return toFloat(x); }
#endif

template <class E>
PITWALL_DEVICE E stored(float x) {
#ifdef __CUDACC__
  if constexpr (std::is_same_v<E, Float16>) return {__half_as_ushort(__float2half_rn(x))};
  if constexpr (std::is_same_v<E, BFloat16>) return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
  if constexpr (std::is_same_v<E, float>) return x;
#else
  return fromFloat<E>(x);
#endif
}

// An array that a kernel reads.
template <class E>
struct In {
  const E* at;
  PITWALL_DEVICE float operator[](std::int64_t i) const { return loaded(at[i]); }
};

template <class E>
In<E> arrayIn(const KernelArgs& args, std::size_t i) {
  return {static_cast<const E*>(args.inputs[i])};
}
template <class E>
E* arrayOut(const KernelArgs& args, std::size_t i) {
  return static_cast<E*>(args.outputs[i]);
}

// make() of an operator whose makeOf<L, E>() computes arrays of one type E.
#define PITWALL_FOR_ELEMENTS(Desc)                                                                \
  template <class L>                                                                              \
  GpuFunction make(const Desc& desc, Pass pass, Signature& signature) {                           \
    const DType type = signature.inputs[0].dtype;                                                 \
    if (!isReal(type)) return {};                                                                 \
    return withElementType(                                                                       \
        type, [&](auto element) { return makeOf<L, decltype(element)>(desc, pass, signature); }); \
  }

}  // namespace pitwall::gpu_kernels
