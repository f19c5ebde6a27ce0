// One pass over memory for all arrays of the sum, in parts that stay in the first cache.
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/cpu_kernels/share_layout.h"

namespace pitwall::cpu_kernels {
namespace {

constexpr std::int64_t kPart = 2048;  // floats

void addPart(const KernelArgs& args, std::size_t count, std::int64_t begin, std::int64_t end) {
  const float *first = input(args, 0), *second = input(args, 1);
  float* out = output(args, 0);
#pragma omp simd
  for (std::int64_t i = begin; i < end; ++i) out[i] = first[i] + second[i];
  for (std::size_t k = 2; k < count; ++k) {
    const float* data = input(args, k);
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) out[i] += data[i];
  }
}

}  // namespace

// The output may be at the address of the first array.
RunFunction make(const AddNDesc& desc, const Request& r, Signature& s) {
  shareLayout(r.inputs[0], true, s);
  const std::int64_t n = storedElements(s.inputs[0]), parallel_from = r.options.parallel_elements;
  const auto count = static_cast<std::size_t>(desc.inputs);
  return [=](const KernelArgs& args) {
    parallelFor(n, {parallel_from, args}, [&](std::int64_t begin, std::int64_t end) {
      if (count == 1) {
        std::copy(input(args, 0) + begin, input(args, 0) + end, output(args, 0) + begin);
        return;
      }
      for (std::int64_t at = begin; at < end; at += kPart)
        addPart(args, count, at, std::min(end, at + kPart));
    });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
