// Data parallel training: copies of a network on several devices, each of which computes gradients of its part of a batch.
//
//   for (std::size_t d = 0; d < devices.size(); ++d) ...    // nets[d]: the same layers, the same first weights
//   auto trainer = Trainer::make(session, {nets[0].parameters(), nets[1].parameters()}, {.optimizer = {"sgd"}});
//   auto parts = splitBatch(session, batch, devices);
//   ...                                                     // forward and backward of nets[d] with parts[d]
//   trainer->step(batch.items);
//
// step() sums the gradients over the devices, and over the processes of a store between processes, and updates the weights on all of
// them. The results are those of one device with the whole batch, but that BatchNorm takes its statistics from each part.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/data.h"
#include "runtime/kvstore.h"
#include "runtime/nn.h"
#include "runtime/optimizer.h"

namespace pitwall {

struct TrainerOptions {
  OptimizerChoice optimizer = {};
  std::string kvstore = "device";
  // Whether the store updates the weights, else each device does. Unset: MXNET_UPDATE_ON_KVSTORE, with the exceptions of
  // planTraining().
  std::optional<bool> update_on_kvstore = {};
  StoreCompression compression = {};
};

// Where weights are updated.
struct TrainingPlan {
  bool uses_store = false;
  bool updates_on_store = false;
};

struct TrainingFacts {
  std::string kvstore = "device";
  std::size_t devices = 1;
  std::int64_t largest_parameter = 0;  // elements
  bool store_can_optimize = true;
  bool by_default = true;          // MXNET_UPDATE_ON_KVSTORE
  std::optional<bool> asked = {};  // TrainerOptions::update_on_kvstore
};

// As MXNet decides: one device needs no store, unless it is one between processes; a store that only sums cannot update; "local" does
// not update weights of more than 16 Mi elements; "dist_async" always does. Errors: invalidInput where `asked` says otherwise and the
// store cannot.
Result<TrainingPlan> planTraining(const TrainingFacts& facts);

class Trainer {
 public:
  // parameters[d]: those of the network on device d, in the same order. Errors: invalidInput where they differ in number or there are
  // none; those of KVStore::create() and makeOptimizer().
  static Result<std::unique_ptr<Trainer>> make(Session& session,
                                               std::vector<std::vector<nn::ParameterPtr>> parameters,
                                               const TrainerOptions& options);

  // Gives all devices, and all processes, the weights of the first. Called by the first step() otherwise: call it before the first
  // forward() where weights may differ. Errors: invalidInput for a parameter without value or gradient, naming it.
  Status shareWeights();

  // Pushes the sums and updates; returns before they have run. Gradients are sums over `batch_size` samples of all devices and processes.
  // Errors: those of shareWeights() and of the store.
  Status step(std::int64_t batch_size);

  void setRate(float rate);
  bool updatesOnStore() const { return plan_.updates_on_store; }
  KVStore* store() const { return store_.get(); }  // nullptr: none is needed

 private:
  Trainer(Session& session, std::vector<std::vector<nn::ParameterPtr>> parameters)
      : session_(session), parameters_(std::move(parameters)) {}
  Status start();
  std::vector<NDArray> arraysOf(std::size_t parameter, bool gradients) const;

  Session& session_;
  const std::vector<std::vector<nn::ParameterPtr>> parameters_;  // by device, the trained ones
  TrainerOptions options_;
  TrainingPlan plan_;
  std::unique_ptr<KVStore> store_;
  std::vector<std::unique_ptr<Optimizer>> optimizers_;  // of each device, where the store does not update
  bool started_ = false;
};

// A part of a batch for each device, as equal as possible.
struct BatchPart {
  NDArray images, labels;
  std::int64_t items = 0;
};
// Copies the batch. Errors: invalidInput for fewer items than devices, and for a batch that is no float32.
Result<std::vector<BatchPart>> splitBatch(Session& session, const data::Batch& batch,
                                          std::span<const Device> devices);

}  // namespace pitwall
