#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {
namespace {

using Steps = std::array<std::int64_t, Shape::kMaxRank>;

Steps stepsOf(const Shape& shape) {
  Steps steps{};
  std::int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    steps[static_cast<std::size_t>(i)] = step;
    step *= shape[i];
  }
  return steps;
}

}  // namespace

RunFunction make(const TransposeDesc& desc, Pass pass, Signature& s) {
  const bool backward = pass == Pass::backward;
  const Shape data = backward ? s.outputs[0].shape : s.inputs[0].shape;
  const Shape out = backward ? s.inputs[0].shape : s.outputs[0].shape;
  const TransposeDesc d = desc.of(data.rank());
  return [=, steps = stepsOf(data)](const KernelArgs& a) {
    for (std::int64_t o = 0; o < out.elements(); ++o) {
      std::int64_t rest = o, at = 0;
      for (int i = out.rank() - 1; i >= 0; --i) {
        at += rest % out[i] * steps[static_cast<std::size_t>(d.axes[static_cast<std::size_t>(i)])];
        rest /= out[i];
      }
      output(a, 0)[backward ? at : o] = input(a, 0)[backward ? o : at];
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
