#include "runtime/operators/add_n.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/kernel_operator.h"

namespace pitwall {
namespace {

constexpr KernelOperator kAddN{.forward = "add_n",
                               .backward = nullptr,
                               .forward_flop = [](const Prepared& p) -> Flop {
                                 return static_cast<Flop>(p.at_hand.size() - 1) *
                                        p.at_hand[0].shape.elements();
                               },
                               .backward_flop = nullptr};

struct AddNNode final : autograd::Node {
  Status backward(autograd::Gradients& gradients) override {
    for (std::size_t i = 0; i < inputs.size(); ++i) PITWALL_TRY(gradients.give(i, gradients.head()));
    return {};
  }
};

}  // namespace

constinit const OperatorKind AddNDesc::kKind = OperatorKind::of<AddNDesc>("add_n");

Result<Signature> AddNDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward()) return q.noSuchPass();
  if (inputs < 1) return q.wrong(fmt::format("{} inputs: must be at least 1", inputs));
  PITWALL_TRY(q.expectInputs(static_cast<std::size_t>(inputs)));
  for (std::size_t i = 1; i < q.inputs.size(); ++i) PITWALL_TRY(q.expectShape(i, q.shape(0), "data"));
  return q.signature({q.shape(0)});
}

Result<NDArray> op::addN(std::span<const NDArray> arrays, const CallSite& site) {
  std::vector<NamedArray> named;
  for (const NDArray& array : arrays) named.push_back({"data", array});
  NDArray sum = PITWALL_TRY(callKernel(kAddN, AddNDesc{static_cast<int>(arrays.size())}, named, site));
  bool tracked = false;
  for (const NDArray& array : arrays) tracked = tracked || autograd::isTracked(array);
  if (autograd::isRecording() && tracked) {
    auto node = std::make_shared<AddNNode>();
    node->inputs.assign(arrays.begin(), arrays.end());
    node->site = site.state();
    autograd::recordNode(sum, std::move(node));
  }
  return sum;
}

}  // namespace pitwall
