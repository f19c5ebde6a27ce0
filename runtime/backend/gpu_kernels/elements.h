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

namespace pitwall::gpu_kernels {

PITWALL_DEVICE float loaded(float x) { return x; }

#ifdef __CUDACC__
// By the device's instructions: runtime/backend/cuda/short_float.cuh.
__device__ inline float loaded(Float16 x);
__device__ inline float loaded(BFloat16 x);
__device__ inline Float16 roundedTo(Float16 type, float x);
__device__ inline BFloat16 roundedTo(BFloat16 type, float x);
__device__ inline float roundedTo(float, float x) { return x; }
#else
inline float loaded(Float16 x) { return toFloat(x); }
inline float loaded(BFloat16 x) { return toFloat(x); }
template <class E>
E roundedTo(E, float x) {
  return fromFloat<E>(x);
}
#endif

template <class E>
PITWALL_DEVICE E stored(float x) {
  return roundedTo(E{}, x);
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
