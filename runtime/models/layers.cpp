#include "runtime/models/layers.h"

#include <fmt/format.h>

#include <utility>

#include "db/try.h"

namespace pitwall::models {
namespace {

std::string tupleText(const Extent2& extent) { return fmt::format("({}, {})", extent.height, extent.width); }

}  // namespace

Symbol Layers::apply(std::string_view op, const std::string& name, const std::vector<Symbol>& inputs,
                     Attributes attributes) {
  if (!status_.has_value()) return inputs[0];
  auto made = Symbol::make(op, name, inputs, std::move(attributes));
  if (made.has_value()) return std::move(*made);
  status_ = fail(made.error());
  return inputs[0];
}

Symbol Layers::convolution(const std::string& name, const std::vector<Symbol>& inputs,
                           const ConvolutionOptions& options) {
  Attributes attributes = {{"kernel", tupleText(options.kernel)},
                           {"num_filter", std::to_string(options.channels)},
                           {"pad", tupleText(options.pad)},
                           {"stride", tupleText(options.stride)}};
  if (!options.bias) attributes["no_bias"] = "True";
  if (options.groups != 1) attributes["num_group"] = std::to_string(options.groups);
  if (options.workspace != nullptr) attributes["workspace"] = options.workspace;
  return apply("Convolution", name, inputs, std::move(attributes));
}

Symbol Layers::batchNorm(const std::string& name, const Symbol& data, const BatchNormOptions& options) {
  Attributes attributes = {{"fix_gamma", options.fix_gamma ? "True" : "False"}};
  if (options.epsilon != nullptr) attributes["eps"] = options.epsilon;
  if (options.momentum != nullptr) attributes["momentum"] = options.momentum;
  return apply("BatchNorm", name, {data}, std::move(attributes));
}

Symbol Layers::relu(const std::string& name, const Symbol& data) {
  return apply("Activation", name, {data}, {{"act_type", "relu"}});
}

Symbol Layers::pooling(const std::string& name, const Symbol& data, const PoolingOptions& options) {
  Attributes attributes = {{"kernel", tupleText(options.kernel)}, {"pool_type", options.type}};
  if (options.global) {
    attributes["global_pool"] = "True";
  } else {
    attributes["pad"] = tupleText(options.pad);
    attributes["stride"] = tupleText(options.stride);
  }
  if (options.full) attributes["pooling_convention"] = "full";
  return apply("Pooling", name, {data}, std::move(attributes));
}

Symbol Layers::dense(const std::string& name, const Symbol& data, std::int64_t units) {
  return apply("FullyConnected", name, {data}, {{"num_hidden", std::to_string(units)}});
}

Symbol Layers::dropout(const std::string& name, const Symbol& data) {
  return apply("Dropout", name, {data}, {{"p", "0.5"}});
}

Symbol Layers::concat(const std::string& name, const std::vector<Symbol>& parts) {
  return apply("Concat", name, parts);
}

Result<Symbol> Layers::softmax(const Symbol& scores) {
  const Symbol result = apply("SoftmaxOutput", "softmax", {scores});
  if (!status_.has_value()) return fail(status_.error());
  return result;
}

}  // namespace pitwall::models
