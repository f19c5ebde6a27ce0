#include "runtime/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "db/meta.h"
#include "db/try.h"

namespace pitwall {
namespace {

constexpr std::int64_t kMostOnLocalStore = 16 * 1024 * 1024;  // elements; MXNet's model.py, _create_kvstore()

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

Result<TrainingPlan> planTraining(const TrainingFacts& facts) {
  const bool between_processes = contains(facts.kvstore, "dist") || contains(facts.kvstore, "horovod");
  if (facts.devices == 1 && !between_processes) return TrainingPlan{};
  TrainingPlan plan{.uses_store = true, .updates_on_store = facts.by_default};
  if (facts.kvstore == "local" && facts.largest_parameter > kMostOnLocalStore) plan.updates_on_store = false;
  if (facts.asked) plan.updates_on_store = *facts.asked;
  if (!facts.store_can_optimize) {
    if (facts.asked.value_or(false))
      return fail(ErrorCode::invalidInput,
                  fmt::format("kvstore '{}' only sums: update_on_kvstore must be false", facts.kvstore));
    plan.updates_on_store = false;
  }
  if (contains(facts.kvstore, "dist_async")) {
    if (!facts.asked.value_or(true))
      return fail(ErrorCode::invalidInput,
                  fmt::format("kvstore '{}' updates on the store alone: update_on_kvstore must be true",
                              facts.kvstore));
    plan.updates_on_store = true;
  }
  return plan;
}

Result<std::unique_ptr<Trainer>> Trainer::make(Session& session,
                                               std::vector<std::vector<nn::ParameterPtr>> parameters,
                                               const TrainerOptions& options) {
  for (auto& of_device : parameters)
    std::erase_if(of_device, [](const nn::ParameterPtr& parameter) { return !parameter->trained; });
  for (const auto& of_device : parameters)
    if (of_device.empty() || of_device.size() != parameters[0].size())
      return fail(
          ErrorCode::invalidInput,
          fmt::format("Trainer: {} trained parameters on one device, {} on another; give copies of one "
                      "network",
                      parameters[0].size(), of_device.size()));
  if (parameters.empty()) return fail(ErrorCode::invalidInput, "Trainer: no parameters are given");
  std::unique_ptr<Trainer> trainer(new Trainer(session, std::move(parameters)));
  trainer->options_ = options;
  const TrainingFacts facts{.kvstore = options.kvstore, .devices = trainer->parameters_.size()};
  if (PITWALL_TRY(planTraining(facts)).uses_store) {
    trainer->store_ = PITWALL_TRY(KVStore::create(session, options.kvstore));
    if (options.compression.type != "none") PITWALL_TRY(trainer->store_->setCompression(options.compression));
  }
  for (const auto& of_device : trainer->parameters_)
    trainer->optimizers_.push_back(PITWALL_TRY(makeOptimizer(options.optimizer, of_device)));
  return trainer;
}

std::vector<NDArray> Trainer::arraysOf(std::size_t parameter, bool gradients) const {
  std::vector<NDArray> arrays;
  for (const auto& of_device : parameters_) {
    const NDArray& value = of_device[parameter]->value;
    arrays.push_back(gradients ? value.gradient() : value);
  }
  return arrays;
}

Status Trainer::start() {
  TrainingFacts facts{.kvstore = options_.kvstore, .devices = parameters_.size()};
  Bytes bytes = 0;
  for (const auto& of_device : parameters_)
    for (const nn::ParameterPtr& parameter : of_device)
      if (!parameter->value || !parameter->value.gradient())
        return fail(
            ErrorCode::invalidInput,
            fmt::format("Trainer: {} has no value or gradient yet; call forward() first", parameter->name));
  for (const nn::ParameterPtr& parameter : parameters_[0]) {
    const std::int64_t elements = parameter->value.shape().elements();
    facts.largest_parameter = std::max(facts.largest_parameter, elements);
    bytes += elements * sizeOf(parameter->value.dtype());
  }
  session_.meta(meta::kModelBytes, std::to_string(bytes));
  session_.meta(meta::kMode, "training");
  facts.store_can_optimize = store_ == nullptr || store_->canOptimize();
  facts.by_default = session_.settings().boolean("MXNET_UPDATE_ON_KVSTORE");
  facts.asked = options_.update_on_kvstore;
  plan_ = PITWALL_TRY(planTraining(facts));
  if (plan_.updates_on_store) {
    PITWALL_TRY(store_->setOptimizer(options_.optimizer));
    optimizers_.clear();
  }
  started_ = true;
  return {};
}

Status Trainer::shareWeights() {
  if (started_) return {};
  PITWALL_TRY(start());
  if (store_ == nullptr) return {};
  for (std::size_t i = 0; i < parameters_[0].size(); ++i) {
    const std::vector<NDArray> weights = arraysOf(i, false);
    PITWALL_TRY(store_->broadcast(parameters_[0][i]->name, weights[0], weights, -static_cast<int>(i)));
  }
  return {};
}

// The weights that the next forward pass needs first come first.
Status Trainer::step(std::int64_t batch_size) {
  PITWALL_TRY(shareWeights());
  const std::size_t count = parameters_[0].size();
  if (store_ != nullptr) store_->setBatchSize(batch_size);
  for (std::size_t i = 0; store_ != nullptr && i < count; ++i) {
    const std::string& key = parameters_[0][i]->name;
    const int priority = -static_cast<int>(i);
    const std::vector<NDArray> gradients = arraysOf(i, true);
    PITWALL_TRY(plan_.updates_on_store ? store_->push(key, gradients, priority)
                                       : store_->pushPull(key, gradients, {}, priority));
  }
  for (std::size_t i = 0; plan_.updates_on_store && i < count; ++i) {
    const std::vector<NDArray> weights = arraysOf(i, false);
    PITWALL_TRY(store_->pull(parameters_[0][i]->name, weights, -static_cast<int>(i)));
  }
  for (const auto& optimizer : optimizers_) PITWALL_TRY(optimizer->step(batch_size));
  return {};
}

void Trainer::setRate(float rate) {
  if (store_ != nullptr) store_->setRate(rate);
  for (const auto& optimizer : optimizers_) optimizer->setRate(rate);
}

Result<std::vector<BatchPart>> splitBatch(Session& session, const data::Batch& batch,
                                          std::span<const Device> devices) {
  const auto count = static_cast<std::int64_t>(devices.size());
  if (count == 0 || batch.items < count)
    return fail(ErrorCode::invalidInput,
                fmt::format("splitBatch: {} items for {} devices; each needs one", batch.items, count));
  const std::int64_t item = batch.image_shape.elements() / batch.items;
  const auto labels = static_cast<std::int64_t>(batch.labels.size()) / batch.items;
  if (static_cast<std::int64_t>(batch.images.size()) != batch.image_shape.elements())
    return fail(ErrorCode::invalidInput, "splitBatch: the images of the batch are not in Batch::images");
  const auto partOf = [](const std::vector<float>& values, std::int64_t begin, std::int64_t end) {
    return std::span(values).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  };
  std::vector<BatchPart> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin = batch.items * i / count, end = batch.items * (i + 1) / count;
    const Device device = devices[static_cast<std::size_t>(i)];
    Shape images{end - begin}, of_labels{end - begin};
    for (int axis = 1; axis < batch.image_shape.rank(); ++axis) images.append(batch.image_shape[axis]);
    if (labels > 1) of_labels.append(labels);
    parts.push_back(
        {.images = NDArray::fromValues(session, images, partOf(batch.images, begin * item, end * item),
                                       MemoryTag::data, device),
         .labels = NDArray::fromValues(session, of_labels, partOf(batch.labels, begin * labels, end * labels),
                                       MemoryTag::data, device),
         .items = end - begin});
  }
  return parts;
}

}  // namespace pitwall
