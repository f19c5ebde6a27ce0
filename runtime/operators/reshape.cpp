// reshape and flatten: another shape over the same memory.
#include <fmt/format.h>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/autograd/node.h"
#include "runtime/operators.h"

namespace pitwall {
namespace {

struct ReshapeNode final : autograd::Node {
  Status backward(autograd::Gradients& gradients) override {
    Value rows = PITWALL_TRY(withLayout(site, gradients.head(), nullptr, Phase::backward));
    rows.chunk->viewed = true;
    return gradients.give(0, {rows.chunk, inputs[0].shape()});
  }
};

Result<NDArray> reshapeAs(const char* name, const NDArray& data, Shape shape, const CallSite& site) {
  if (shape.elements() != data.shape().elements())
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: {} has {} elements, {} has {}", name, data.shape().toString(),
                            data.shape().elements(), shape.toString(), shape.elements()));
  Value rows = PITWALL_TRY(withLayout(site.state(), valueOf(data), nullptr, Phase::forward));
  rows.chunk->viewed = true;
  NDArray result = makeArray({rows.chunk, shape});
  if (autograd::shouldRecord({&data})) {
    auto node = std::make_shared<ReshapeNode>();
    node->inputs = {data};
    node->site = site.state();
    autograd::recordNode(result, std::move(node));
  }
  return result;
}

}  // namespace

Result<NDArray> op::reshape(const NDArray& data, Shape shape, const CallSite& site) {
  PITWALL_TRY(requireArrays(site, "Reshape", {{"data", data}}));
  return reshapeAs("Reshape", data, shape, site);
}

Result<NDArray> op::flatten(const NDArray& data, const CallSite& site) {
  PITWALL_TRY(requireArrays(site, "Flatten", {{"data", data}}));
  if (data.shape().rank() < 1 || data.shape()[0] == 0)
    return fail(ErrorCode::invalidInput,
                "Flatten: data " + data.shape().toString() + " must have a first axis");
  return reshapeAs("Flatten", data, {data.shape()[0], data.shape().elements() / data.shape()[0]}, site);
}

}  // namespace pitwall
