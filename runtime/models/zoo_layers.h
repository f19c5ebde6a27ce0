// Composes a network of MXNet's model zoo: nodes and parameters are named by kind and number, as Gluon names its layers,
// "densenet0_stage1_conv0_weight", so that the zoo's trained parameters fit.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/models/layers.h"

namespace pitwall::models {

class ZooLayers {
 public:
  // `network`: the prefix of all names, "densenet0_".
  explicit ZooLayers(std::string network) : network_(network), scope_(std::move(network)) {}

  // The names of the following layers have this prefix after the network's; "" = none. Each prefix counts separately.
  void enter(const std::string& scope) { scope_ = network_ + scope; }
  // The number of the next layer of a kind, which it takes.
  std::string next(const std::string& kind);

  Symbol convolution(const Symbol& data, const ConvolutionOptions& options) {
    return convolution(next("conv"), data, options);
  }
  // Under this name.
  Symbol convolution(const std::string& name, const Symbol& data, const ConvolutionOptions& options);
  Symbol batchNorm(const Symbol& data);
  Symbol relu(const Symbol& data) { return net_.relu(next("relu") + "_fwd", data); }
  Symbol pooling(const Symbol& data, const PoolingOptions& options) {
    return net_.pooling(next("pool") + "_fwd", data, options);
  }
  Symbol dense(const Symbol& data, std::int64_t units);
  Symbol dropout(const Symbol& data) { return net_.dropout(next("dropout") + "_fwd", data); }
  Symbol flatten(const Symbol& data) { return net_.apply("Flatten", next("flatten"), {data}); }
  Symbol concat(const std::vector<Symbol>& parts);

  Layers& net() { return net_; }

 private:
  Layers net_;
  std::string network_, scope_;
  std::map<std::string, int> numbers_;  // of the next layer, by its name without the number
};

}  // namespace pitwall::models
