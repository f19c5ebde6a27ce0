#include "runtime/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "db/meta.h"
#include "db/try.h"
#include "runtime/short_float.h"

namespace pitwall {

Optimizer::Optimizer(std::string name, std::vector<nn::ParameterPtr> parameters, float rate,
                     std::size_t states)
    : name_(std::move(name)), parameters_(std::move(parameters)), rate_(rate), states_(states) {}

Result<Optimizer::Item> Optimizer::itemOf(const nn::Parameter& parameter) const {
  const NDArray& weight = parameter.value;
  if (!weight || !weight.gradient())
    return fail(
        ErrorCode::invalidInput,
        fmt::format("{}: {} has no value or gradient yet; call forward() and backward() before step()", name_,
                    parameter.name));
  Item item{.weight = weight, .states = {}};
  const bool keeps_master = multi_precision_ && is16Bits(weight.dtype());
  if (keeps_master) {
    item.master = NDArray::empty(weight.session(), weight.shape(), MemoryTag::optimizer, DType::float32,
                                 weight.device());
    PITWALL_TRY(item.master.copyFrom(PITWALL_TRY(weight.toVector())));
  }
  for (std::size_t i = 0; i < states_; ++i)
    item.states.push_back(NDArray::zeros(weight.session(), weight.shape(), MemoryTag::optimizer,
                                         weight.device(), keeps_master ? DType::float32 : weight.dtype()));
  return item;
}

Status Optimizer::makeGroups() {
  Bytes bytes = 0;
  std::vector<Group> groups;
  for (const nn::ParameterPtr& parameter : parameters_) {
    if (!parameter->trained) continue;
    Item item = PITWALL_TRY(itemOf(*parameter));
    Session& session = item.weight.session();
    const auto size = static_cast<std::size_t>(
        std::max<std::int64_t>(1, session.settings().integer("MXNET_OPTIMIZER_AGGREGATION_SIZE")));
    // Of the weight's type the last one, where it has room.
    Group* found = nullptr;
    for (Group& group : groups)
      if (group.items[0].weight.dtype() == item.weight.dtype()) found = &group;
    const bool full = found == nullptr || found->items.size() >= size;
    Group& group = full ? groups.emplace_back() : *found;
    const std::string layers = full ? parameter->name : group.layers + "," + parameter->name;
    bytes += item.weight.shape().elements() * sizeOf(item.weight.dtype());
    group.items.push_back(std::move(item));
    group.layers = layers;
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

Status Optimizer::checkBatch(std::int64_t batch_size) const {
  if (batch_size >= 1) return {};
  return fail(ErrorCode::invalidInput,
              fmt::format("{}: batch size {} must be at least 1", name_, batch_size));
}

op::SgdStep Optimizer::stepFor(std::int64_t batch_size) const {
  return {.rate = rate_, .rescale = 1.0F / (static_cast<float>(batch_size) * loss_scale_)};
}

Status Optimizer::stepOne(const nn::ParameterPtr& parameter, std::int64_t batch_size) {
  PITWALL_TRY(checkBatch(batch_size));
  Single& single = singles_[parameter.get()];
  if (single.group.items.empty()) {
    Item item = PITWALL_TRY(itemOf(*parameter));
    single.group.items.push_back(std::move(item));
    single.group.site = CallSite(parameter->name);
  }
  const op::SgdStep step = stepFor(batch_size);
  return update(single.group.items, step, ++single.steps, single.group.site);
}

Status Optimizer::step(std::int64_t batch_size) {
  PITWALL_TRY(checkBatch(batch_size));
  if (groups_.empty()) {
    PITWALL_TRY(makeGroups());
  }
  ++steps_;
  const op::SgdStep step = stepFor(batch_size);
  for (const Group& group : groups_) {
    PITWALL_TRY(update(group.items, step, steps_, group.site));
  }
  return {};
}

namespace {

template <class D, class Items>
D withMasters(D desc, const Items& items) {
  desc.multi_precision = static_cast<bool>(items[0].master);
  return desc;
}

}  // namespace

Sgd::Sgd(std::vector<nn::ParameterPtr> parameters, const SgdOptions& options)
    : Optimizer("Sgd", std::move(parameters), options.rate, options.momentum != 0 ? 1 : 0),
      desc_{.momentum = options.momentum, .weight_decay = options.weight_decay} {}

Status Sgd::update(const std::vector<Item>& items, op::SgdStep step, std::int64_t, const CallSite& site) {
  std::vector<op::SgdItem> updated;
  updated.reserve(items.size());
  for (const Item& item : items)
    updated.push_back({item.weight, item.states.empty() ? NDArray() : item.states[0], item.master});
  return op::sgdUpdate(updated, withMasters(desc_, items), step, site);
}

Nag::Nag(std::vector<nn::ParameterPtr> parameters, const SgdOptions& options)
    : Optimizer("Nag", std::move(parameters), options.rate, 1),
      desc_{.momentum = options.momentum, .weight_decay = options.weight_decay} {}

Status Nag::update(const std::vector<Item>& items, op::SgdStep step, std::int64_t, const CallSite& site) {
  std::vector<op::SgdItem> updated;
  updated.reserve(items.size());
  for (const Item& item : items) updated.push_back({item.weight, item.states[0], item.master});
  return op::nagUpdate(updated, withMasters(desc_, items), step, site);
}

Adam::Adam(std::vector<nn::ParameterPtr> parameters, const AdamOptions& options)
    : Optimizer("Adam", std::move(parameters), options.rate, 2),
      desc_{.beta1 = options.beta1,
            .beta2 = options.beta2,
            .epsilon = options.epsilon,
            .weight_decay = options.weight_decay} {}

Status Adam::update(const std::vector<Item>& items, op::SgdStep step, std::int64_t number,
                    const CallSite& site) {
  std::vector<op::AdamItem> updated;
  updated.reserve(items.size());
  for (const Item& item : items)
    updated.push_back({item.weight, item.states[0], item.states[1], item.master});
  const auto steps = static_cast<double>(number);
  const double corrected = std::sqrt(1 - std::pow(static_cast<double>(desc_.beta2), steps)) /
                           (1 - std::pow(static_cast<double>(desc_.beta1), steps));
  step.rate *= static_cast<float>(corrected);
  return op::adamUpdate(updated, withMasters(desc_, items), step, site);
}

}  // namespace pitwall
