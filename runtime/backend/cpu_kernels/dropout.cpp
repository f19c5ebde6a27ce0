#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/support/random.h"

namespace pitwall::cpu_kernels {
namespace {

void draw(const float* data, float* out, float* mask, std::uint64_t seed, std::uint64_t threshold,
          float scale, std::int64_t begin, std::int64_t end) {
#pragma omp simd
  for (std::int64_t i = begin; i < end; ++i) {
    mask[i] = randomBits(seed, static_cast<std::uint64_t>(i)) < threshold ? scale : 0.0F;
    out[i] = data[i] * mask[i];
  }
}

void multiply(const float* dout, const float* mask, float* ddata, std::int64_t begin, std::int64_t end) {
#pragma omp simd
  for (std::int64_t i = begin; i < end; ++i) ddata[i] = dout[i] * mask[i];
}

}  // namespace

// Draws by position in memory: blocked data gets another draw than row-major data, with the same rate.
RunFunction make(const DropoutDesc& desc, const Request& r, Signature& s) {
  // Padding is multiplied too, and stays zero. Backward: the mask is given, so its layout is used.
  const LayoutPtr layout = r.inputs.back().layout;
  for (TensorSpec& spec : s.inputs) spec.layout = layout;
  for (TensorSpec& spec : s.outputs) spec.layout = layout;
  const std::int64_t n = storedElements(s.inputs[0]), parallel_from = r.options.parallel_elements;
  if (r.pass == Pass::backward) {
    return [n, parallel_from](const KernelArgs& a) {
      parallelFor(n, {parallel_from, a}, [&](std::int64_t begin, std::int64_t end) {
        multiply(input(a, 0), input(a, 1), output(a, 0), begin, end);
      });
      return Status{};
    };
  }
  const std::uint64_t threshold = keepThreshold(desc.rate);
  const float scale = 1 / (1 - desc.rate);
  return [n, parallel_from, threshold, scale](const KernelArgs& a) {
    parallelFor(n, {parallel_from, a}, [&](std::int64_t begin, std::int64_t end) {
      draw(input(a, 0), output(a, 0), output(a, 1), a.context.seed, threshold, scale, begin, end);
    });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
