// Optimizers: update parameters from their gradients.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/nn.h"

namespace pitwall {

struct SgdOptions {
  float rate = 0.01F;  // learning rate
  float momentum = 0;
  float weight_decay = 0;
};

// Stochastic gradient descent. MXNET_OPTIMIZER_AGGREGATION_SIZE weights are updated by one operator.
class Sgd {
 public:
  Sgd(std::vector<nn::ParameterPtr> parameters, const SgdOptions& options);

  // Pushes the update of every trained parameter. Gradients are sums over `batch_size` samples. Errors:
  // invalidInput when a parameter has no gradient yet (no forward() before).
  Status step(std::int64_t batch_size);

  void setRate(float rate) { options_.rate = rate; }

 private:
  struct Group {
    std::vector<op::SgdItem> items;
    CallSite site;
  };
  Status makeGroups();

  std::vector<nn::ParameterPtr> parameters_;
  SgdOptions options_;
  std::vector<Group> groups_;
};

}  // namespace pitwall
