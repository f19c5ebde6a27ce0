#include "runtime/models/zoo_layers.h"

#include <utility>

namespace pitwall::models {

std::string ZooLayers::next(const std::string& kind) {
  const std::string name = scope_ + kind;
  return name + std::to_string(numbers_[name]++);
}

Symbol ZooLayers::convolution(const std::string& name, const Symbol& data,
                              const ConvolutionOptions& options) {
  std::vector<Symbol> inputs{data, Symbol::variable(name + "_weight")};
  if (options.bias) inputs.push_back(Symbol::variable(name + "_bias"));
  return net_.convolution(name + "_fwd", inputs, options);
}

Symbol ZooLayers::batchNorm(const Symbol& data) {
  const std::string name = next("batchnorm");
  std::vector<Symbol> inputs{data};
  for (const char* part : {"_gamma", "_beta", "_running_mean", "_running_var"})
    inputs.push_back(Symbol::variable(name + part));
  return net_.apply("BatchNorm", name + "_fwd", inputs,
                    {{"eps", "1e-05"}, {"momentum", "0.9"}, {"fix_gamma", "False"}});
}

Symbol ZooLayers::dense(const Symbol& data, std::int64_t units) {
  const std::string name = next("dense");
  return net_.apply("FullyConnected", name + "_fwd",
                    {data, Symbol::variable(name + "_weight"), Symbol::variable(name + "_bias")},
                    {{"num_hidden", std::to_string(units)}});
}

Symbol ZooLayers::concat(const std::vector<Symbol>& parts) {
  return net_.apply("Concat", next("concat"), parts,
                    {{"num_args", std::to_string(parts.size())}, {"dim", "1"}});
}

}  // namespace pitwall::models
