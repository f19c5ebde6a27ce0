// NDArray::copyTo.
#include "runtime/operators/support/copy.h"

#include <cstring>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/array/device_bytes.h"
#include "runtime/array/facts.h"
#include "runtime/autograd/node.h"

namespace pitwall {
namespace {

struct CopyNode final : autograd::Node {
  Status backward(autograd::Gradients& gradients) override {
    if (!gradients.wanted(0)) return {};
    const Value copied = PITWALL_TRY(copyToDevice(gradients.head(), inputs[0].device(), Phase::backward));
    return gradients.give(0, copied);
  }
};

OperatorFacts factsOf(const char* name, const Value& from, Device to, Phase phase) {
  OperatorFacts facts = describeWrite(name, from, phase);
  const std::string shape = from.shape.toString();
  facts.shapes = shape + "->" + shape;
  facts.implementation = traceName(from.device()) + " to " + traceName(to);
  facts.bytes_read = facts.bytes_written;
  return facts;
}

Status copyBytes(const Chunk& from, Chunk& to, Bytes bytes) {
  if (from.block.size() < bytes)
    return fail(ErrorCode::invalidInput, "Copy to " + toString(to.device) + ": the array on " +
                                             toString(from.device) + " was never written");
  PITWALL_TRY(ensureBlock(to, bytes));
  if (bytes == 0) return {};
  const Device runs_on = placementOfCopy(from.device, to.device).device;
  if (runs_on.kind == DeviceKind::gpu)
    return copyOnStream(*to.session, runs_on, to.block.data(), from.block.data(), bytes);
  std::memcpy(to.block.data(), from.block.data(), static_cast<std::size_t>(bytes));
  return {};
}

}  // namespace

CopyPlacement placementOfCopy(Device from, Device to) {
  if (from.kind == DeviceKind::gpu) return {from, OperatorClass::copyFromGpu};
  if (to.kind == DeviceKind::gpu) return {to, OperatorClass::copyToGpu};
  return {to, OperatorClass::normal};
}

Result<Value> copyToDevice(const Value& value, Device to, Phase phase) {
  Session& session = value.session();
  const Result<Storage*> storage = session.storage(to);
  if (!storage.has_value())
    return fail(storage.error().code,
                "Copy from " + toString(value.device()) + ": " + storage.error().message);
  Value copy{makeChunk(session, to, value.chunk->tag, value.chunk->dtype), value.shape};
  PITWALL_TRY(copyInto("Copy", value, copy, phase));
  return copy;
}

Status copyInto(const char* name, const Value& value, const Value& to, Phase phase) {
  Session& session = value.session();
  const bool same_backend = (value.device().kind == DeviceKind::gpu) == (to.device().kind == DeviceKind::gpu);
  const bool keeps_layout = same_backend && !to.chunk->viewed;
  const Value from =
      PITWALL_TRY(keeps_layout ? Result<Value>(value) : withLayout(nullptr, value, nullptr, phase));
  to.chunk->layout = from.chunk->layout;
  auto run = [from = from.chunk.get(), to = to.chunk.get(),
              bytes = from.spec().sizeBytes()](const RunContext&) { return copyBytes(*from, *to, bytes); };
  const Variable reads[] = {from.chunk->variable}, writes[] = {to.chunk->variable};
  const CopyPlacement placement = placementOfCopy(value.device(), to.device());
  session.engine().push({.run = std::move(run),
                         .reads = reads,
                         .writes = writes,
                         .facts = session.profiler().operatorFacts(factsOf(name, from, to.device(), phase)),
                         .device = placement.device,
                         .operator_class = placement.operator_class});
  BulkRegion::countPush();
  return {};
}

Result<NDArray> NDArray::copyTo(Device to) const {
  Value copied = PITWALL_TRY(copyToDevice(impl_->value, to, Phase::none));
  NDArray result = makeArray(std::move(copied));
  if (autograd::shouldRecord({this})) {
    auto node = std::make_shared<CopyNode>();
    node->inputs = {*this};
    autograd::recordNode(result, std::move(node));
  }
  return result;
}

}  // namespace pitwall
