// Optimizers: update parameters from their gradients.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/nn.h"

namespace pitwall {

// What all have in common. MXNET_OPTIMIZER_AGGREGATION_SIZE weights are updated by one operator.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Pushes the update of every trained parameter. Gradients are sums over `batch_size` samples. Errors:
  // invalidInput when a parameter has no gradient yet (no forward() before).
  Status step(std::int64_t batch_size);

  // The same for one parameter, whose updates are counted apart from step(): for a store that updates each when its gradient
  // arrives. It need not be one of the optimizer's. Keep it alive; its array stays the same.
  Status stepOne(const nn::ParameterPtr& parameter, std::int64_t batch_size);

  void setRate(float rate) { rate_ = rate; }

  // Gradients are so many times too large, as of a loss that was multiplied: they are divided by it. 1 at first.
  void setLossScale(float scale) { loss_scale_ = scale; }

  // Weights of 16 bits, and their states, are kept and updated as float32; the arrays of the parameters are copies. Off at first, as
  // MXNet's multi_precision: small steps are then lost. Precondition: before the first step. Without effect on others.
  void useMultiPrecision(bool use) { multi_precision_ = use; }

 protected:
  // `states` arrays of zeros are kept for each weight.
  Optimizer(std::string name, std::vector<nn::ParameterPtr> parameters, float rate, std::size_t states);
  Optimizer(const Optimizer&) = default;
  Optimizer& operator=(const Optimizer&) = default;

  struct Item {
    NDArray weight;
    std::vector<NDArray> states;
    NDArray master = {};  // of a weight of 16 bits in multi-precision: as float32
  };
  // Pushes the update of these weights, the `number`th of this optimizer, from 1.
  virtual Status update(const std::vector<Item>& items, op::SgdStep step, std::int64_t number,
                        const CallSite& site) = 0;

 private:
  // Of one type, which one operator updates.
  struct Group {
    std::vector<Item> items;
    std::string layers;  // of the items
    CallSite site;
  };
  // One that stepOne() updates.
  struct Single {
    Group group;
    std::int64_t steps = 0;
  };
  Status makeGroups();
  Status checkBatch(std::int64_t batch_size) const;
  op::SgdStep stepFor(std::int64_t batch_size) const;
  Result<Item> itemOf(const nn::Parameter& parameter) const;

  std::string name_;
  std::vector<nn::ParameterPtr> parameters_;
  float rate_, loss_scale_ = 1;
  bool multi_precision_ = false;
  std::size_t states_;
  std::int64_t steps_ = 0;
  std::vector<Group> groups_;
  std::map<const nn::Parameter*, Single> singles_;
};

struct SgdOptions {
  float rate = 0.01F;  // learning rate
  float momentum = 0;
  float weight_decay = 0;
};

// Stochastic gradient descent.
class Sgd final : public Optimizer {
 public:
  Sgd(std::vector<nn::ParameterPtr> parameters, const SgdOptions& options);

 private:
  Status update(const std::vector<Item>& items, op::SgdStep step, std::int64_t number,
                const CallSite& site) override;
  SgdDesc desc_;
};

// Nesterov's accelerated gradient; SGD without momentum. The default of the momentum is that of SGD.
class Nag final : public Optimizer {
 public:
  Nag(std::vector<nn::ParameterPtr> parameters, const SgdOptions& options);

 private:
  Status update(const std::vector<Item>& items, op::SgdStep step, std::int64_t number,
                const CallSite& site) override;
  NagDesc desc_;
};

// Defaults of the paper (Kingma and Ba, 2014, https://arxiv.org/abs/1412.6980) and of MXNet.
struct AdamOptions {
  float rate = 0.001F;  // learning rate
  float beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F;
  float weight_decay = 0;  // added to the gradient
};

// The rate of step t is rate * sqrt(1 - beta2^t) / (1 - beta1^t), as in MXNet.
class Adam final : public Optimizer {
 public:
  Adam(std::vector<nn::ParameterPtr> parameters, const AdamOptions& options);

 private:
  Status update(const std::vector<Item>& items, op::SgdStep step, std::int64_t number,
                const CallSite& site) override;
  AdamDesc desc_;
};

}  // namespace pitwall
