// Sums and stores gradients.
#include "db/try.h"
#include "runtime/autograd/node.h"
#include "runtime/operators/binary.h"
#include "runtime/operators/reorder.h"

namespace pitwall::autograd {
namespace {

// a + b into `output` (created when empty).
Status sum(const SitePtr& site, const Value& a, const Value& b, Value& output) {
  static const OperatorKindDesc desc = BinaryDesc{BinaryType::add};
  const Value* inputs[] = {&a, &b};
  return invoke(site, {.name = "_grad_add",
                       .desc = desc,
                       .phase = Phase::backward,
                       .inputs = inputs,
                       .outputs = {&output, 1},
                       .flop = [](const Prepared& p) -> Flop { return p.at_hand[0].shape.elements(); }});
}

// Copies `value` into `target`, row-major.
Status copyInto(const SitePtr& site, const Value& value, Value target) {
  const OperatorKindDesc desc = ReorderDesc{nullptr};
  const Value* inputs[] = {&value};
  return invoke(
      site,
      {.name = "_copyto", .desc = desc, .phase = Phase::backward, .inputs = inputs, .outputs = {&target, 1}});
}

}  // namespace

bool Gradients::wanted(std::size_t input) const {
  return input < node_.inputs.size() && isTracked(node_.inputs[input]);
}

bool Gradients::isWritten(std::size_t input) const {
  if (!wanted(input)) return false;
  const NDArray::Impl& impl = *node_.inputs[input].impl();
  return impl.gradient && impl.gradient_stamp == stamp_;
}

Value Gradients::target(std::size_t input) const {
  if (!wanted(input)) return {};
  const NDArray::Impl& impl = *node_.inputs[input].impl();
  if (!impl.gradient || impl.node != nullptr || impl.gradient_stamp == stamp_) return {};
  const Value& gradient = valueOf(impl.gradient);
  return gradient.chunk->viewed ? Value{} : gradient;
}

Status Gradients::give(std::size_t input, const Value& gradient) {
  if (!wanted(input)) return {};
  NDArray::Impl& impl = *node_.inputs[input].impl();
  if (impl.gradient) {
    Value target = valueOf(impl.gradient);
    const bool first = impl.gradient_stamp != stamp_;
    impl.gradient_stamp = stamp_;
    Status done;
    if (!first)
      done = sum(site(), target, gradient, target);
    else if (target.chunk != gradient.chunk)
      done = copyInto(site(), gradient, target);
    PITWALL_TRY(done);
  }
  if (impl.node == nullptr) return {};
  Node& producer = *impl.node;
  if (!producer.head) {
    producer.head = gradient;
    return {};
  }
  Value total;  // a new array: the first gradient may be in use elsewhere
  Status done = sum(site(), producer.head, gradient, total);
  producer.head = total;
  return done;
}

}  // namespace pitwall::autograd
