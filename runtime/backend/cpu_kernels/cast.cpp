#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/short_float.h"

namespace pitwall::cpu_kernels {

// Row-major: arrays of 16 bits have no other layout on a CPU.
RunFunction make(const CastDesc&, const Request& r, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements(), parallel_from = r.options.parallel_elements;
  return withElementType(s.inputs[0].dtype, [&](auto from_type) -> RunFunction {
    return withElementType(s.outputs[0].dtype, [&](auto to_type) -> RunFunction {
      using From = decltype(from_type);
      using To = decltype(to_type);
      return [n, parallel_from](const KernelArgs& a) {
        const auto* from = static_cast<const From*>(a.inputs[0]);
        auto* to = static_cast<To*>(a.outputs[0]);
        parallelFor(n, {parallel_from, a}, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
          for (std::int64_t i = begin; i < end; ++i) to[i] = fromFloat<To>(toFloat(from[i]));
        });
        return Status{};
      };
    });
  });
}

}  // namespace pitwall::cpu_kernels
