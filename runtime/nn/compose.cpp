// Layers as nodes of a graph.
#include <fmt/format.h>

#include "db/try.h"
#include "runtime/nn.h"

namespace pitwall::nn {
namespace {

std::string tupleText(const std::array<std::int64_t, 2>& pair) {
  return fmt::format("({}, {})", pair[0], pair[1]);
}

const char* booleanText(bool value) { return value ? "True" : "False"; }

Symbol variableOf(const ParameterPtr& parameter) { return Symbol::variable(parameter->name); }

std::vector<Symbol> withParameters(const Symbol& data, const Layer& layer) {
  std::vector<Symbol> inputs{data};
  for (const ParameterPtr& parameter : layer.parameters()) inputs.push_back(variableOf(parameter));
  return inputs;
}

const char* activationText(ActivationType type) {
  switch (type) {
    case ActivationType::relu: return "relu";
    case ActivationType::sigmoid: return "sigmoid";
    case ActivationType::tanh: return "tanh";
    case ActivationType::softrelu: return "softrelu";
  }
  return "";
}

}  // namespace

Result<Symbol> Layer::compose(const Symbol&) const {
  return fail(
      ErrorCode::unsupported,
      fmt::format("{}: the layer cannot be part of a graph; override Layer::compose(), or do not call "
                  "hybridize()",
                  name_));
}

Result<Symbol> Conv2D::compose(const Symbol& data) const {
  return Symbol::make("Convolution", name(), withParameters(data, *this),
                      {{"kernel", tupleText(desc_.kernel)},
                       {"stride", tupleText(desc_.stride)},
                       {"pad", tupleText(desc_.pad)},
                       {"dilate", tupleText(desc_.dilate)},
                       {"num_filter", std::to_string(desc_.channels)},
                       {"num_group", std::to_string(desc_.groups)},
                       {"no_bias", booleanText(!desc_.bias)}});
}

Result<Symbol> Dense::compose(const Symbol& data) const {
  return Symbol::make("FullyConnected", name(), withParameters(data, *this),
                      {{"num_hidden", std::to_string(desc_.units)}, {"no_bias", booleanText(!desc_.bias)}});
}

Result<Symbol> Pool2D::compose(const Symbol& data) const {
  const bool is_average = desc_.type == PoolingType::average;
  return Symbol::make("Pooling", name(), {data},
                      {{"pool_type", is_average ? "avg" : "max"},
                       {"count_include_pad", booleanText(desc_.count_padding)},
                       {"kernel", tupleText(desc_.kernel)},
                       {"stride", tupleText(desc_.stride)},
                       {"pad", tupleText(desc_.pad)}});
}

Result<Symbol> Activation::compose(const Symbol& data) const {
  return Symbol::make("Activation", name(), {data}, {{"act_type", activationText(desc_.type)}});
}

Result<Symbol> LRN::compose(const Symbol& data) const {
  return Symbol::make("LRN", name(), {data},
                      {{"nsize", std::to_string(desc_.nsize)},
                       {"alpha", fmt::format("{}", desc_.alpha)},
                       {"beta", fmt::format("{}", desc_.beta)},
                       {"knorm", fmt::format("{}", desc_.knorm)}});
}

Result<Symbol> BatchNorm::compose(const Symbol& data) const {
  return Symbol::make("BatchNorm", name(), withParameters(data, *this),
                      {{"eps", fmt::format("{}", desc_.epsilon)},
                       {"momentum", fmt::format("{}", desc_.momentum)},
                       {"fix_gamma", booleanText(desc_.fix_gamma)},
                       {"use_global_stats", booleanText(desc_.use_global_stats)}});
}

Result<Symbol> Dropout::compose(const Symbol& data) const {
  return Symbol::make("Dropout", name(), {data}, {{"p", fmt::format("{}", desc_.rate)}});
}

Result<Symbol> Flatten::compose(const Symbol& data) const { return Symbol::make("Flatten", name(), {data}); }

Result<Symbol> Sequential::compose(const Symbol& data) const {
  Symbol current = data;
  for (const auto& layer : layers_) {
    current = PITWALL_TRY(layer->compose(current));
  }
  return current;
}

}  // namespace pitwall::nn
