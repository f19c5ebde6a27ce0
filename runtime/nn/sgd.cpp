#include <fmt/format.h>

#include <algorithm>

#include "db/meta.h"
#include "db/try.h"
#include "runtime/optimizer.h"

namespace pitwall {

Sgd::Sgd(std::vector<nn::ParameterPtr> parameters, const SgdOptions& options)
    : parameters_(std::move(parameters)), options_(options) {}

Status Sgd::makeGroups() {
  Bytes bytes = 0;
  std::vector<Group> groups;
  std::string layers;
  for (const nn::ParameterPtr& parameter : parameters_) {
    if (!parameter->trained) continue;
    if (!parameter->value || !parameter->value.gradient())
      return fail(
          ErrorCode::invalidInput,
          fmt::format("Sgd: {} has no value or gradient yet; call forward() and backward() before step()",
                      parameter->name));
    Session& session = parameter->value.session();
    const auto size = static_cast<std::size_t>(
        std::max<std::int64_t>(1, session.settings().integer("MXNET_OPTIMIZER_AGGREGATION_SIZE")));
    const bool full = groups.empty() || groups.back().items.size() >= size;
    if (full) groups.emplace_back();
    layers = full ? parameter->name : layers + "," + parameter->name;
    Group& group = groups.back();
    const Shape& shape = parameter->value.shape();
    bytes += parameter->value.shape().elements() * sizeOf(parameter->value.dtype());
    group.items.push_back({parameter->value, options_.momentum != 0
                                                 ? NDArray::zeros(session, shape, MemoryTag::optimizer,
                                                                  parameter->value.device())
                                                 : NDArray()});
    group.site = CallSite(layers);
  }
  groups_ = std::move(groups);
  if (!groups_.empty()) {
    Session& session = groups_[0].items[0].weight.session();
    session.meta(meta::kModelBytes, std::to_string(bytes));
    session.meta(meta::kMode, "training");
  }
  return {};
}

Status Sgd::step(std::int64_t batch_size) {
  if (batch_size < 1)
    return fail(ErrorCode::invalidInput, fmt::format("Sgd: batch size {} must be at least 1", batch_size));
  if (groups_.empty()) {
    PITWALL_TRY(makeGroups());
  }
  const SgdDesc desc{.momentum = options_.momentum, .weight_decay = options_.weight_decay};
  const op::SgdStep step{.rate = options_.rate, .rescale = 1.0F / static_cast<float>(batch_size)};
  for (const Group& group : groups_) {
    PITWALL_TRY(op::sgdUpdate(group.items, desc, step, group.site));
  }
  return {};
}

}  // namespace pitwall
