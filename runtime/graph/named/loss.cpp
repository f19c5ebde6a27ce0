// Losses of which only the gradient is particular: MakeLoss.
#include <utility>

#include "runtime/graph/named/parts.h"
#include "runtime/operators/linear.h"

namespace pitwall::graph {
namespace {

constexpr AttributeRule kMakeLossRules[] = {
    {"grad_scale", kReal, "1"},
    {"valid_thresh", kReal, "0"},
    {"normalization", kChoice, "null", "null|batch|valid"},
};

// The output is the data; the gradient is one number, whatever the gradient of the output is.
Result<Lowered> lowerMakeLoss(const Attributes& a, const NodeShapes& s, bool) {
  const AttributeReader read(kMakeLossRules, a);
  const std::string_view normalization = read.choice("normalization");
  if (normalization == "valid") return noKernel("normalization=valid");
  double scale = read.real("grad_scale");
  if (normalization == "batch" && s.inputs[0]->rank() > 0) scale /= static_cast<double>((*s.inputs[0])[0]);
  auto result = viewOfInput();
  result->gradient = {.is_loss = true, .is_kept = true};
  return withGradient(std::move(result), {.name = "_backward_MakeLoss",
                                          .desc = LinearDesc{1, static_cast<float>(scale)},
                                          .pass = Pass::forward,
                                          .inputs = {from::zerosLike(0)},
                                          .gradients = {0}});
}

constexpr NamedOperator kLossOperators[] = {
    {"MakeLoss", kMakeLossRules, onlyData, noStates, onlyOutput, oneVisible, sameShapes, lowerMakeLoss,
     noFlop},
};

}  // namespace

std::span<const NamedOperator> lossOperators() { return kLossOperators; }

}  // namespace pitwall::graph
