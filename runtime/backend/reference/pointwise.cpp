#include <cmath>

#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/extremes.h"

namespace pitwall::reference {
namespace {

double pointwiseSigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double pointwiseValue(const PointwiseDesc::Instruction& i, double a, double b) {
  using enum PointwiseDesc::Function;
  const double alpha = static_cast<double>(i.alpha), beta = static_cast<double>(i.beta);
  switch (i.function) {
    case add: return a + b;
    case subtract: return a - b;
    case multiply: return a * b;
    case divide: return a / b;
    case maximum: return largerOf(a, b);
    case minimum: return smallerOf(a, b);
    case linear: return alpha * a + beta;
    case reciprocal: return alpha / a;
    case clip: return a < alpha ? alpha : a > beta ? beta : a;
    case relu: return a > 0 ? a : 0;
    case sigmoid: return pointwiseSigmoid(a);
    case tanh: return std::tanh(a);
    case softrelu: return a > 0 ? a + std::log1p(std::exp(-a)) : std::log1p(std::exp(a));
    case reluGradient: return b > 0 ? a : 0;
    case sigmoidGradient: return a * b * (1 - b);
    case tanhGradient: return a * (1 - b * b);
    case softreluGradient: return a * pointwiseSigmoid(b);
    case clipGradient: return b > alpha && b < beta ? a : 0;
  }
  return 0;
}

}  // namespace

RunFunction make(const PointwiseDesc& desc, Pass, Signature& s) {
  return [desc, n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    std::vector<double> registers(static_cast<std::size_t>(desc.inputs) + desc.instructions.size());
    for (std::int64_t i = 0; i < n; ++i) {
      std::size_t next = 0;
      for (; next < static_cast<std::size_t>(desc.inputs); ++next)
        registers[next] = static_cast<double>(input(a, next)[i]);
      for (const auto& instruction : desc.instructions)
        registers[next++] = pointwiseValue(instruction, registers[instruction.a], registers[instruction.b]);
      for (std::size_t k = 0; k < desc.outputs.size(); ++k)
        output(a, k)[i] = static_cast<float>(registers[desc.outputs[k]]);
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
