// Blocks that stay in the first-level cache: each instruction runs over a block, then the outputs are stored. Compiled for three
// instruction sets; the processor's best is taken when a kernel is made.
#include <bit>
#include <cmath>
#include <cstring>

#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/cpu_kernels/share_layout.h"
#include "runtime/backend/support/extremes.h"

#define PITWALL_INLINE inline __attribute__((always_inline))

namespace pitwall::cpu_kernels {
namespace {

using PointwiseFunction = PointwiseDesc::Function;
using PointwiseInstruction = PointwiseDesc::Instruction;

constexpr std::int64_t kPointwiseBlock = 256;  // elements: 32 registers are 32 KiB

// 2^n times a polynomial of the remainder, n the nearest integer to x / log 2: to 2 units in the last place. The polynomial and the two
// parts of log 2 are those of expf in S. Moshier's Cephes library.
PITWALL_INLINE float blockExponential(float x) {
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const float bounded = x > 88.0F ? 88.0F : x < -87.0F ? -87.0F : x == x ? x : 0.0F;
  const float n = (bounded * 1.44269504F + kRound) - kRound;
  const float r = (bounded - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const float scale = std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
  return x == x ? p * scale : x;
}

PITWALL_INLINE float blockSigmoid(float x) { return 1.0F / (1.0F + blockExponential(-x)); }

// Small arguments by a series: 1 - 2 / (1 + exp(2x)) loses their digits.
PITWALL_INLINE float blockTanh(float x) {
  const float square = x * x;
  const float small =
      x * (1.0F + square * (-0.333333333F + square * (0.133333333F - square * 0.0539682540F)));
  const float large = 1.0F - 2.0F / (1.0F + blockExponential(2.0F * x));
  return square < 0.0144F ? small : large;
}

template <class Compute>
PITWALL_INLINE void overBlock(const float* a, const float* b, float* to, std::int64_t n, Compute compute) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) to[i] = compute(a[i], b[i]);
}

PITWALL_INLINE void runPointwiseInstruction(const PointwiseInstruction& in, const float* a, const float* b,
                                            float* to, std::int64_t n) {
  const float alpha = in.alpha, beta = in.beta;
  switch (in.function) {
    case PointwiseFunction::add: return overBlock(a, b, to, n, [](float x, float y) { return x + y; });
    case PointwiseFunction::subtract: return overBlock(a, b, to, n, [](float x, float y) { return x - y; });
    case PointwiseFunction::multiply: return overBlock(a, b, to, n, [](float x, float y) { return x * y; });
    case PointwiseFunction::divide: return overBlock(a, b, to, n, [](float x, float y) { return x / y; });
    case PointwiseFunction::maximum:
      return overBlock(a, b, to, n, [](float x, float y) { return largerOf(x, y); });
    case PointwiseFunction::minimum:
      return overBlock(a, b, to, n, [](float x, float y) { return smallerOf(x, y); });
    case PointwiseFunction::linear:
      return overBlock(a, b, to, n, [=](float x, float) { return alpha * x + beta; });
    case PointwiseFunction::reciprocal:
      return overBlock(a, b, to, n, [=](float x, float) { return alpha / x; });
    case PointwiseFunction::clip:
      return overBlock(a, b, to, n, [=](float x, float) { return x < alpha ? alpha : x > beta ? beta : x; });
    case PointwiseFunction::relu:
      return overBlock(a, b, to, n, [](float x, float) { return x > 0 ? x : 0.0F; });
    case PointwiseFunction::sigmoid:
      return overBlock(a, b, to, n, [](float x, float) { return blockSigmoid(x); });
    case PointwiseFunction::tanh: return overBlock(a, b, to, n, [](float x, float) { return blockTanh(x); });
    case PointwiseFunction::softrelu:
      // A logarithm that is not vectorised: nothing faster is as exact near 0.
      for (std::int64_t i = 0; i < n; ++i)
        to[i] = (a[i] > 0 ? a[i] : 0) + std::log1p(std::exp(-std::abs(a[i])));
      return;
    case PointwiseFunction::reluGradient:
      return overBlock(a, b, to, n, [](float x, float y) { return y > 0 ? x : 0.0F; });
    case PointwiseFunction::sigmoidGradient:
      return overBlock(a, b, to, n, [](float x, float y) { return x * y * (1 - y); });
    case PointwiseFunction::tanhGradient:
      return overBlock(a, b, to, n, [](float x, float y) { return x * (1 - y * y); });
    case PointwiseFunction::softreluGradient:
      return overBlock(a, b, to, n, [](float x, float y) { return x * blockSigmoid(y); });
    case PointwiseFunction::clipGradient:
      return overBlock(a, b, to, n, [=](float x, float y) { return y > alpha && y < beta ? x : 0.0F; });
  }
}

// Outputs are stored after all instructions of a block: they may have the places of inputs.
PITWALL_INLINE void runPointwiseRange(const PointwiseDesc& desc, const KernelArgs& args, std::int64_t begin,
                                      std::int64_t end) {
  alignas(64) float made[PointwiseDesc::kMostInstructions][kPointwiseBlock];
  const float* registers[PointwiseDesc::kMostInputs + PointwiseDesc::kMostInstructions] = {};
  const std::size_t inputs = static_cast<std::size_t>(desc.inputs);
  for (std::int64_t at = begin; at < end; at += kPointwiseBlock) {
    const std::int64_t n = std::min(kPointwiseBlock, end - at);
    for (std::size_t i = 0; i < inputs; ++i) registers[i] = input(args, i) + at;
    for (std::size_t k = 0; k < desc.instructions.size(); ++k) {
      const PointwiseInstruction& instruction = desc.instructions[k];
      runPointwiseInstruction(instruction, registers[instruction.a], registers[instruction.b], made[k], n);
      registers[inputs + k] = made[k];
    }
    for (std::size_t k = 0; k < desc.outputs.size(); ++k)
      std::memmove(output(args, k) + at, registers[desc.outputs[k]],
                   static_cast<std::size_t>(n) * sizeof(float));
  }
}

using PointwiseRange = void (*)(const PointwiseDesc&, const KernelArgs&, std::int64_t, std::int64_t);

void runPointwiseAnywhere(const PointwiseDesc& desc, const KernelArgs& args, std::int64_t begin,
                          std::int64_t end) {
  runPointwiseRange(desc, args, begin, end);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void runPointwiseAvx2(const PointwiseDesc& desc, const KernelArgs& args,
                                                          std::int64_t begin, std::int64_t end) {
  runPointwiseRange(desc, args, begin, end);
}

__attribute__((target("avx512f,avx512dq,avx2,fma"))) void runPointwiseAvx512(const PointwiseDesc& desc,
                                                                             const KernelArgs& args,
                                                                             std::int64_t begin,
                                                                             std::int64_t end) {
  runPointwiseRange(desc, args, begin, end);
}
#endif

PointwiseRange bestPointwiseRange() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return runPointwiseAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return runPointwiseAvx2;
#endif
  return runPointwiseAnywhere;
}

}  // namespace

RunFunction make(const PointwiseDesc& desc, const Request& r, Signature& s) {
  const TensorSpec* leader = &r.inputs[0];
  for (const TensorSpec& spec : r.inputs)
    if (leader->layout == nullptr && spec.layout != nullptr) leader = &spec;
  shareLayout(*leader, false, s);
  const std::int64_t n = storedElements(s.inputs[0]), parallel_from = r.options.parallel_elements;
  return [desc, n, parallel_from, range = bestPointwiseRange()](const KernelArgs& args) {
    parallelFor(n, {parallel_from, args},
                [&](std::int64_t begin, std::int64_t end) { range(desc, args, begin, end); });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels

#undef PITWALL_INLINE
