#include "runtime/nn/cached_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "db/try.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"

namespace pitwall::nn {
namespace {

// Its executor's memory has what the backward pass needs: no other call may use it until that has been pushed, or the result
// has been dropped.
class Lease {
 public:
  explicit Lease(CachedOp::EntryPtr entry) : entry_(std::move(entry)) { entry_->memory->in_use = true; }
  ~Lease() { entry_->memory->in_use = false; }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Executor& executor() const { return *entry_->executor; }

 private:
  CachedOp::EntryPtr entry_;
};

// Inputs: the data, then the parameters.
struct CachedNode final : autograd::Node {
  std::unique_ptr<Lease> lease;

  // The executor writes the gradients of parameters. Where an earlier call of the same pass has written one, that is put
  // aside and added afterwards.
  Status backward(autograd::Gradients& gradients) override {
    const std::unique_ptr<Lease> held = std::move(lease);
    std::vector<NDArray> before(inputs.size());
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      if (!gradients.isWritten(i)) continue;
      const NDArray gradient = inputs[i].gradient();
      before[i] = PITWALL_TRY(gradient.copyTo(gradient.device()));
    }
    const NDArray head_gradient = makeArray(gradients.head());
    PITWALL_TRY(held->executor().backward({&head_gradient, 1}));
    if (gradients.wanted(0))
      PITWALL_TRY(gradients.give(0, valueOf(held->executor().gradient(CachedOp::kData))));
    for (std::size_t i = 1; i < inputs.size(); ++i)
      if (gradients.wanted(i))
        PITWALL_TRY(gradients.give(i, valueOf(before[i] ? before[i] : inputs[i].gradient())));
    return {};
  }
};

}  // namespace

// From the shapes that the graph infers, as the layers do from their data.
Status CachedOp::makeParameters(const NDArray& data) {
  if (has_parameters_) return {};
  const InferredShapes shapes = PITWALL_TRY(graph_.inferShapes({{kData, data.shape()}}));
  std::map<std::string, Shape> by_name;
  const auto add = [&](const std::vector<std::string>& names, const std::vector<Shape>& of) {
    for (std::size_t i = 0; i < names.size(); ++i) by_name.emplace(names[i], of[i]);
  };
  add(graph_.arguments(), shapes.arguments);
  add(graph_.auxiliaryStates(), shapes.auxiliary_states);
  for (const ParameterPtr& parameter : parameters_)
    PITWALL_TRY(parameter->make(data.session(), by_name.at(parameter->name), data.device()));
  has_parameters_ = true;
  return {};
}

CachedOp::Entry CachedOp::wanted(const NDArray& data) const {
  Entry entry{.shape = data.shape(), .device = data.device(), .training = autograd::isRecording()};
  entry.wants_data_gradient = entry.training && autograd::isTracked(data);
  for (const ParameterPtr& parameter : parameters_) {
    entry.arrays.push_back(parameter->value.impl().get());
    const NDArray gradient = parameter->value.gradient();
    entry.arrays.push_back(entry.training && gradient ? gradient.impl().get() : nullptr);
  }
  return entry;
}

Result<std::unique_ptr<Executor>> CachedOp::bind(const Entry& entry, const NDArray& data,
                                                 const Executor* share_with) const {
  std::map<std::string, NDArray> arrays{{kData, makeArray(valueOf(data))}};
  Executor::Options options;
  options.device = entry.device;
  options.inputs = {kData};
  options.seed = options_.seed;
  options.share_with = share_with;
  options.keep_memory = options_.static_alloc;
  options.overwrite_outputs = false;
  options.measure_kernels = options_.static_shape;
  for (const ParameterPtr& parameter : parameters_) {
    arrays[parameter->name] = parameter->value;
    if (entry.training && parameter->value.gradient())
      options.gradients[parameter->name] = {.array = parameter->value.gradient()};
  }
  if (entry.wants_data_gradient) options.gradients[kData] = {};
  return Executor::bind(data.session(), graph_, std::move(arrays), std::move(options));
}

Result<CachedOp::EntryPtr> CachedOp::entryFor(Entry key, const NDArray& data) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const EntryPtr& entry) {
    return !entry->memory->in_use && entry->isFor(key);
  });
  if (found != entries_.end()) {
    std::rotate(found, found + 1, entries_.end());
    return entries_.back();
  }
  const auto shared = std::find_if(entries_.begin(), entries_.end(), [&](const EntryPtr& entry) {
    return !entry->memory->in_use && entry->training == key.training && entry->device == key.device;
  });
  const bool shares = shared != entries_.end();
  key.memory = shares ? (*shared)->memory : std::make_shared<Memory>();
  key.executor = PITWALL_TRY(bind(key, data, shares ? (*shared)->executor.get() : nullptr));
  entries_.push_back(std::make_shared<Entry>(std::move(key)));
  if (entries_.size() > kMaxExecutors) entries_.erase(entries_.begin());
  return entries_.back();
}

Result<NDArray> CachedOp::call(const NDArray& data) {
  PITWALL_TRY(makeParameters(data));
  const EntryPtr entry = PITWALL_TRY(entryFor(wanted(data), data));
  Executor& executor = *entry->executor;
  PITWALL_TRY(executor.replaceInput(kData, makeArray(valueOf(data))));  // without what computed it
  PITWALL_TRY(executor.forward(entry->training ? Executor::Mode::training : Executor::Mode::inference));
  NDArray result = makeArray(valueOf(executor.outputs()[0]));
  bool is_tracked = entry->wants_data_gradient;
  for (const ParameterPtr& parameter : parameters_) is_tracked |= autograd::isTracked(parameter->value);
  if (!entry->training || !is_tracked) return result;
  auto node = std::make_shared<CachedNode>();
  node->inputs = {data};
  for (const ParameterPtr& parameter : parameters_) node->inputs.push_back(parameter->value);
  node->lease = std::make_unique<Lease>(entry);
  autograd::recordNode(result, std::move(node));
  return result;
}

}  // namespace pitwall::nn
