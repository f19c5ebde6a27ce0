#include "runtime/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "db/meta.h"
#include "db/try.h"

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
  for (std::size_t i = 0; i < states_; ++i)
    item.states.push_back(
        NDArray::zeros(weight.session(), weight.shape(), MemoryTag::optimizer, weight.device()));
  return item;
}

Status Optimizer::makeGroups() {
  Bytes bytes = 0;
  std::vector<Group> groups;
  std::string layers;
  for (const nn::ParameterPtr& parameter : parameters_) {
    if (!parameter->trained) continue;
    Item item = PITWALL_TRY(itemOf(*parameter));
    Session& session = item.weight.session();
    const auto size = static_cast<std::size_t>(
        std::max<std::int64_t>(1, session.settings().integer("MXNET_OPTIMIZER_AGGREGATION_SIZE")));
    const bool full = groups.empty() || groups.back().items.size() >= size;
    if (full) groups.emplace_back();
    layers = full ? parameter->name : layers + "," + parameter->name;
    Group& group = groups.back();
    bytes += item.weight.shape().elements() * sizeOf(item.weight.dtype());
    group.items.push_back(std::move(item));
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

Status Optimizer::stepOne(const nn::ParameterPtr& parameter, std::int64_t batch_size) {
  PITWALL_TRY(checkBatch(batch_size));
  Single& single = singles_[parameter.get()];
  if (single.group.items.empty()) {
    Item item = PITWALL_TRY(itemOf(*parameter));
    single.group.items.push_back(std::move(item));
    single.group.site = CallSite(parameter->name);
  }
  const op::SgdStep step{.rate = rate_, .rescale = 1.0F / static_cast<float>(batch_size)};
  return update(single.group.items, step, ++single.steps, single.group.site);
}

Status Optimizer::step(std::int64_t batch_size) {
  PITWALL_TRY(checkBatch(batch_size));
  if (groups_.empty()) {
    PITWALL_TRY(makeGroups());
  }
  ++steps_;
  const op::SgdStep step{.rate = rate_, .rescale = 1.0F / static_cast<float>(batch_size)};
  for (const Group& group : groups_) {
    PITWALL_TRY(update(group.items, step, steps_, group.site));
  }
  return {};
}

Sgd::Sgd(std::vector<nn::ParameterPtr> parameters, const SgdOptions& options)
    : Optimizer("Sgd", std::move(parameters), options.rate, options.momentum != 0 ? 1 : 0),
      desc_{.momentum = options.momentum, .weight_decay = options.weight_decay} {}

Status Sgd::update(const std::vector<Item>& items, op::SgdStep step, std::int64_t, const CallSite& site) {
  std::vector<op::SgdItem> updated;
  updated.reserve(items.size());
  for (const Item& item : items)
    updated.push_back({item.weight, item.states.empty() ? NDArray() : item.states[0]});
  return op::sgdUpdate(updated, desc_, step, site);
}

Nag::Nag(std::vector<nn::ParameterPtr> parameters, const SgdOptions& options)
    : Optimizer("Nag", std::move(parameters), options.rate, 1),
      desc_{.momentum = options.momentum, .weight_decay = options.weight_decay} {}

Status Nag::update(const std::vector<Item>& items, op::SgdStep step, std::int64_t, const CallSite& site) {
  std::vector<op::SgdItem> updated;
  updated.reserve(items.size());
  for (const Item& item : items) updated.push_back({item.weight, item.states[0]});
  return op::nagUpdate(updated, desc_, step, site);
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
  for (const Item& item : items) updated.push_back({item.weight, item.states[0], item.states[1]});
  const auto steps = static_cast<double>(number);
  const double corrected = std::sqrt(1 - std::pow(static_cast<double>(desc_.beta2), steps)) /
                           (1 - std::pow(static_cast<double>(desc_.beta1), steps));
  step.rate *= static_cast<float>(corrected);
  return op::adamUpdate(updated, desc_, step, site);
}

}  // namespace pitwall
