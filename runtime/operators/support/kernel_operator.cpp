#include "runtime/operators/support/kernel_operator.h"

#include <algorithm>

#include "db/try.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"

namespace pitwall {
namespace {

bool has(unsigned set, std::size_t i) {
  return set == KernelOperator::kAll || (i < 32 && (set >> i & 1U) != 0);
}

struct KernelNode final : autograd::Node {
  KernelNode(const KernelOperator& of, const OperatorKindDesc& the_desc) : op(of), desc(the_desc) {}

  // An array that is given twice gets two gradients, which are added: only the first may be written in place.
  Value targetOf(autograd::Gradients& gradients, std::size_t i) const {
    for (std::size_t other = 0; other < i; ++other) {
      if (inputs[other].impl() == inputs[i].impl()) return {};
    }
    return gradients.target(i);
  }

  Status backward(autograd::Gradients& gradients) override {
    const std::size_t first = op.first_gradient, last = first + std::min(op.gradients, inputs.size() - first);
    bool wanted = false;
    std::vector<Value> made;
    for (std::size_t i = first; i < last; ++i) {
      wanted = wanted || gradients.wanted(i);
      made.push_back(targetOf(gradients, i));
    }
    if (!wanted) return {};
    std::vector<const Value*> arrays;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (has(op.reads_inputs, i)) arrays.push_back(&valueOf(inputs[i]));
    }
    for (const Value& value : kept) arrays.push_back(&value);
    if (op.reads_gradient) arrays.push_back(&gradients.head());
    PITWALL_TRY(invoke(site, {.name = op.backward,
                              .desc = desc,
                              .pass = Pass::backward,
                              .phase = Phase::backward,
                              .inputs = arrays,
                              .outputs = made,
                              .flop = op.backward_flop,
                              .tag = MemoryTag::gradients}));
    for (std::size_t i = first; i < last; ++i) PITWALL_TRY(gradients.give(i, made[i - first]));
    return {};
  }

  const KernelOperator& op;
  const OperatorKindDesc desc;
  std::vector<Value> kept;  // outputs that the gradient needs
};

}  // namespace

Result<NDArray> callKernel(const KernelOperator& op, const OperatorKindDesc& desc,
                           std::span<const NamedArray> arrays, const CallSite& site) {
  bool tracked = false;
  std::vector<const Value*> inputs;
  for (const NamedArray& named : arrays) {
    PITWALL_TRY(requireArrays(site, op.forward, {named}));
    if (inputs.size() < op.forward_inputs) inputs.push_back(&valueOf(named.array));
    tracked = tracked || autograd::isTracked(named.array);
  }
  if (inputs.empty()) return fail(ErrorCode::invalidInput, std::string(op.forward) + ": no array is given");
  const bool recording = autograd::isRecording();
  std::vector<Value> outputs(recording ? op.outputs : 1);
  PITWALL_TRY(invoke(site.state(), {.name = op.forward,
                                    .desc = desc,
                                    .pass = forwardPass(recording),
                                    .phase = Phase::forward,
                                    .inputs = inputs,
                                    .outputs = outputs,
                                    .flop = op.forward_flop}));
  NDArray result = makeArray(outputs[0]);
  if (recording && tracked && op.backward != nullptr) {
    auto node = std::make_shared<KernelNode>(op, desc);
    for (const NamedArray& named : arrays) node->inputs.push_back(named.array);
    node->site = site.state();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (has(op.reads_outputs, i)) node->kept.push_back(outputs[i]);
    }
    autograd::recordNode(result, std::move(node));
  }
  return result;
}

}  // namespace pitwall
