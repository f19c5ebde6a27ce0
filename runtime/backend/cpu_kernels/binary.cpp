#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/cpu_kernels/share_layout.h"

namespace pitwall::cpu_kernels {
namespace {

template <class Function>
RunFunction zip(std::int64_t n, std::int64_t parallel_from, Function function) {
  return [=](const KernelArgs& args) {
    const float *a = input(args, 0), *b = input(args, 1);
    float* out = output(args, 0);
    parallelFor(n, {parallel_from, args}, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) out[i] = function(a[i], b[i]);
    });
    return Status{};
  };
}

// A blocked layout takes precedence: otherwise two reorders, to row-major and back, would be needed.
const TensorSpec& leaderOf(std::span<const TensorSpec> inputs) {
  for (const TensorSpec& spec : inputs) {
    if (spec.layout != nullptr) return spec;
  }
  return inputs[0];
}

}  // namespace

RunFunction make(const BinaryDesc& desc, const Request& r, Signature& s) {
  shareLayout(leaderOf(r.inputs), desc.type != BinaryType::divide, s);
  const std::int64_t n = storedElements(s.inputs[0]), parallel_from = r.options.parallel_elements;
  switch (desc.type) {
    case BinaryType::add: return zip(n, parallel_from, [](float a, float b) { return a + b; });
    case BinaryType::subtract: return zip(n, parallel_from, [](float a, float b) { return a - b; });
    case BinaryType::multiply: return zip(n, parallel_from, [](float a, float b) { return a * b; });
    case BinaryType::divide: return zip(n, parallel_from, [](float a, float b) { return a / b; });
  }
  return nullptr;
}

}  // namespace pitwall::cpu_kernels
