// The gradient of each named operator, against finite differences and on both backends.
#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "runtime/graph/named_operators.h"
#include "tests/runtime/graph/training_check.h"

namespace pitwall::test::operator_gradients_test {
namespace {

using Mode = Executor::Mode;

struct Case {
  const char* op;
  Attributes attributes = {};
  std::vector<Shape> inputs = {};  // {}: of the operator's own arguments, it follows
  int indices = -1;                // the input that has whole numbers, and no gradient
};

const Shape kMatrix{3, 4};
const Shape kImage{2, 4, 5, 4};

std::vector<Case> elementwiseCases() {
  std::vector<Case> cases;
  for (const char* type : {"relu", "sigmoid", "softrelu", "tanh"})
    cases.push_back({"Activation", {{"act_type", type}}, {kMatrix}});
  for (const char* op : {"relu", "sigmoid", "tanh", "_copy", "Flatten"}) cases.push_back({op, {}, {kMatrix}});
  for (const char* op :
       {"_plus_scalar", "_minus_scalar", "_rminus_scalar", "_mul_scalar", "_div_scalar", "_rdiv_scalar"})
    cases.push_back({op, {{"scalar", "2.5"}}, {kMatrix}});
  cases.push_back({"clip", {{"a_min", "-0.1"}, {"a_max", "0.2"}}, {kMatrix}});
  cases.push_back({"Cast", {{"dtype", "float32"}}, {kMatrix}});
  for (const char* op :
       {"elemwise_add", "elemwise_sub", "elemwise_mul", "elemwise_div", "_maximum", "_minimum"})
    cases.push_back({op, {}, {kMatrix, kMatrix}});
  for (const char* op : {"broadcast_add", "broadcast_sub", "broadcast_mul", "broadcast_div",
                         "broadcast_maximum", "broadcast_minimum"}) {
    cases.push_back({op, {}, {kMatrix, kMatrix}});
    cases.push_back({op, {}, {{2, 3, 4}, {3, 1}}});
    cases.push_back({op, {}, {{2, 1, 4}, {1, 3, 4}}});
  }
  for (const int count : {1, 2, 3, 9})
    cases.push_back(
        {"add_n", {{"num_args", std::to_string(count)}}, std::vector<Shape>(std::size_t(count), kMatrix)});
  return cases;
}

std::vector<Case> axisCases() {
  std::vector<Case> cases = {
      {"Reshape", {{"shape", "(0, 2, -1)"}}, {kMatrix}},
      {"expand_dims", {{"axis", "1"}}, {kMatrix}},
      {"squeeze", {}, {{3, 1, 4}}},
      {"Concat", {{"num_args", "1"}}, {kMatrix}},
      {"Concat", {{"num_args", "3"}, {"dim", "0"}}, {{1, 4}, {2, 4}, {1, 4}}},
      {"Concat", {{"num_args", "2"}}, {{2, 16, 2, 1}, {2, 8, 2, 1}}},
      {"SliceChannel", {{"num_outputs", "1"}}, {kMatrix}},
      {"SliceChannel", {{"num_outputs", "2"}}, {kMatrix}},
      {"SliceChannel", {{"num_outputs", "3"}, {"axis", "0"}, {"squeeze_axis", "True"}}, {kMatrix}},
      {"slice_axis", {{"axis", "1"}, {"begin", "1"}, {"end", "-1"}}, {kMatrix}},
      {"transpose", {{"axes", "(1, 2, 0)"}}, {{2, 3, 4}}},
      {"transpose", {}, {{2, 3, 4}}},
      {"SwapAxis", {{"dim1", "0"}, {"dim2", "2"}}, {{2, 3, 4}}},
      {"take", {{"axis", "1"}}, {{2, 3, 2}, {4}}, 1},
      {"Embedding", {{"input_dim", "3"}, {"output_dim", "2"}}, {{4}, {}}, 0},
  };
  for (const char* op : {"sum", "mean", "max", "min"}) {
    cases.push_back({op, {}, {kMatrix}});
    cases.push_back({op, {{"axis", "(0, 2)"}}, {{2, 3, 4}}});
    cases.push_back({op, {{"axis", "1"}, {"keepdims", "True"}}, {{2, 3, 4}}});
  }
  return cases;
}

std::vector<Case> productCases() {
  std::vector<Case> cases = {
      {"FullyConnected", {{"num_hidden", "3"}}, {{2, 2, 3}, {}, {}}},
      {"FullyConnected", {{"num_hidden", "3"}, {"no_bias", "True"}}, {{2, 5}, {}}},
      {"FullyConnected", {{"num_hidden", "3"}, {"flatten", "False"}}, {{2, 2, 3}, {}, {}}},
      {"Convolution", {{"kernel", "(3, 3)"}, {"num_filter", "3"}, {"pad", "(1, 1)"}}, {{2, 2, 4, 5}, {}, {}}},
      {"Convolution",
       {{"kernel", "(2, 3)"},
        {"num_filter", "4"},
        {"num_group", "2"},
        {"stride", "(2, 1)"},
        {"dilate", "(2, 1)"},
        {"no_bias", "True"}},
       {{1, 4, 6, 5}, {}}},
      {"Convolution",
       {{"kernel", "(3,)"}, {"num_filter", "3"}, {"pad", "(1,)"}, {"stride", "(2,)"}},
       {{2, 2, 7}, {}, {}}},
      {"Deconvolution",
       {{"kernel", "(3, 2)"}, {"num_filter", "2"}, {"stride", "(2, 1)"}, {"no_bias", "False"}},
       {{1, 3, 3, 4}, {}, {}}},
  };
  for (const char* a : {"False", "True"}) {
    for (const char* b : {"False", "True"}) {
      const Attributes attributes{{"transpose_a", a}, {"transpose_b", b}};
      const bool ta = *a == 'T', tb = *b == 'T';
      cases.push_back({"dot", attributes, {ta ? Shape{4, 3} : Shape{3, 4}, tb ? Shape{2, 4} : Shape{4, 2}}});
      cases.push_back({"batch_dot",
                       attributes,
                       {ta ? Shape{2, 4, 3} : Shape{2, 3, 4}, tb ? Shape{2, 2, 4} : Shape{2, 4, 2}}});
    }
  }
  return cases;
}

std::vector<Case> windowAndNormCases() {
  const auto pooling = [](Attributes attributes) {
    attributes.emplace("kernel", "(2, 3)");
    return Case{"Pooling", std::move(attributes), {kImage}};
  };
  std::vector<Case> cases = {
      pooling({{"pool_type", "max"}, {"stride", "(2, 2)"}}),
      pooling({{"pool_type", "avg"}, {"stride", "(2, 2)"}, {"pad", "(1, 1)"}}),
      pooling({{"pool_type", "avg"}, {"pooling_convention", "full"}, {"stride", "(2, 2)"}}),
      pooling({{"pool_type", "max"}, {"global_pool", "True"}}),
      pooling({{"pool_type", "avg"}, {"global_pool", "True"}}),
      pooling({{"pool_type", "sum"}, {"stride", "(2, 2)"}, {"pad", "(1, 1)"}}),
      pooling({{"pool_type", "lp"}, {"p_value", "2"}, {"stride", "(2, 2)"}}),
      {"Pooling", {{"kernel", "(2,)"}, {"pool_type", "max"}}, {{2, 3, 5}}},
      {"Pooling", {{"kernel", "(3,)"}, {"pool_type", "avg"}, {"pad", "(1,)"}}, {{2, 3, 5}}},
      {"BatchNorm", {{"fix_gamma", "False"}}, {{4, 2, 6}, {}, {}}},
      {"log_softmax", {{"axis", "0"}}, {kMatrix}},
      {"log_softmax", {{"temperature", "2"}}, {kMatrix}},
      {"LRN", {{"nsize", "3"}, {"alpha", "0.5"}}, {kImage}},
      {"LayerNorm", {}, {{2, 3, 4}, {}, {}}},
      {"softmax", {{"axis", "0"}}, {kMatrix}},
      {"softmax", {{"temperature", "2"}}, {kMatrix}},
      {"SoftmaxActivation", {{"mode", "channel"}}, {{2, 3, 2}}},
      {"SoftmaxActivation", {}, {kMatrix}},
  };
  for (const char* fixed : {"True", "False"}) {
    cases.push_back({"BatchNorm", {{"fix_gamma", fixed}}, {{4, 2, 2, 3}, {}, {}}});
    cases.push_back(
        {"BatchNorm", {{"fix_gamma", fixed}, {"use_global_stats", "True"}}, {{4, 2, 2, 3}, {}, {}}});
  }
  for (const char* mode : {"lstm", "gru", "rnn_tanh", "rnn_relu"}) {
    for (const char* states : {"True", "False"}) {
      Case rnn{"RNN",
               {{"mode", mode}, {"state_size", "2"}, {"num_layers", "1"}, {"state_outputs", states}},
               {{3, 2, 3}, {}, {}}};
      if (std::string(mode) == "lstm") rnn.inputs.push_back({});
      cases.push_back(rnn);
    }
  }
  return cases;
}

std::vector<Case> allCases() {
  std::vector<Case> all;
  for (const auto& cases : {elementwiseCases(), axisCases(), productCases(), windowAndNormCases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

std::string inputName(std::size_t i) { return "x" + std::to_string(i); }

Symbol symbolOf(const Case& of) {
  std::vector<Symbol> inputs;
  for (std::size_t i = 0; i < of.inputs.size(); ++i) inputs.push_back(Symbol::variable(inputName(i)));
  return node(of.op, "n", inputs, of.attributes);
}

// Far enough from each other, from 0 and from the limits of clip that no difference crosses a kink.
std::vector<float> valuesFor(const Shape& shape, std::size_t input, bool positive) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  const std::size_t count = values.size();
  std::size_t stride = count / 2 + 1;
  while (std::gcd(stride, count) != 1) ++stride;
  for (std::size_t i = 0; i < count; ++i) {
    const auto rank = static_cast<float>((i * stride + input) % count) - static_cast<float>(count / 2);
    values[i] = 0.05F * rank + 0.025F + 0.0125F * static_cast<float>(input);
    if (positive) values[i] = 1 + std::abs(values[i]);
  }
  return values;
}

struct Bound {
  std::unique_ptr<Session> session;
  ArraysByName arrays;
  Executor::Options options;
  std::unique_ptr<Executor> executor;
  std::vector<NDArray> heads;
};

Bound bindCase(const Case& of, const std::string& backend) {
  Bound bound{.session = open(backend), .arrays = {}, .options = {}, .executor = nullptr, .heads = {}};
  const Symbol symbol = symbolOf(of);
  std::map<std::string, Shape> known;
  for (std::size_t i = 0; i < of.inputs.size(); ++i)
    if (of.inputs[i].rank() > 0) known[inputName(i)] = of.inputs[i];
  const auto shapes = symbol.inferShapes(known);
  EXPECT_TRUE(shapes.has_value()) << shapes.error().message;
  if (!shapes.has_value()) return bound;
  const bool divides = std::string(of.op).ends_with("div"), inverts = std::string(of.op) == "_rdiv_scalar";
  for (std::size_t i = 0; i < of.inputs.size(); ++i) {
    const Shape& shape = shapes->arguments[i];
    auto values = valuesFor(shape, i, inverts || (divides && i == 1));
    for (std::size_t k = 0; static_cast<int>(i) == of.indices && k < values.size(); ++k)
      values[k] = static_cast<float>(k * 2 % 3);
    bound.arrays[inputName(i)] = NDArray::fromValues(*bound.session, shape, values);
    if (static_cast<int>(i) != of.indices) bound.options.gradients[inputName(i)] = {};
  }
  const auto states = symbol.auxiliaryStates();
  for (std::size_t i = 0; i < states.size(); ++i)
    bound.arrays[states[i]] = NDArray::fromValues(*bound.session, shapes->auxiliary_states[i],
                                                  valuesFor(shapes->auxiliary_states[i], 1, true));
  for (const Shape& shape : shapes->outputs) {
    auto values = valuesFor(shape, 3, false);
    for (float& value : values) value = std::sin(20 * value);
    bound.heads.push_back(NDArray::fromValues(*bound.session, shape, values));
  }
  bound.executor = bindTraining(*bound.session, symbol, bound.arrays, bound.options);
  return bound;
}

// The outputs times their gradients.
double loss(Bound& bound) {
  EXPECT_TRUE(bound.executor->forward(Mode::training).has_value());
  double sum = 0;
  const auto outputs = valuesOf(*bound.executor);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto head = *bound.heads[i].toVector();
    for (std::size_t k = 0; k < head.size(); ++k)
      sum += static_cast<double>(head[k]) * static_cast<double>(outputs[i][k]);
  }
  return sum;
}

std::vector<float> differences(Bound& bound, const std::string& input) {
  constexpr float kStep = 0.01F;
  NDArray& array = bound.arrays[input];
  const auto values = *array.toVector();
  std::vector<float> gradient;
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto moved = values;
    moved[i] = values[i] + kStep;
    EXPECT_TRUE(array.copyFrom(moved).has_value());
    const double above = loss(bound);
    moved[i] = values[i] - kStep;
    EXPECT_TRUE(array.copyFrom(moved).has_value());
    gradient.push_back(static_cast<float>((above - loss(bound)) / (2 * static_cast<double>(kStep))));
  }
  EXPECT_TRUE(array.copyFrom(values).has_value());
  return gradient;
}

TEST(OperatorGradients, AreTheDifferencesOfTheOutputs) {
  for (const Case& of : allCases()) {
    std::string text = of.op;
    for (const auto& [name, value] : of.attributes) text += " " + name + "=" + value;
    SCOPED_TRACE(text);
    Bound bound = bindCase(of, "reference"), fast = bindCase(of, "onednn");
    ASSERT_NE(bound.executor, nullptr);
    ASSERT_NE(fast.executor, nullptr);
    trainingStep(*bound.executor, bound.heads);
    trainingStep(*fast.executor, fast.heads);
    const GradientValues gradients = gradientsOf(*bound.executor, bound.options);
    expectEqual(gradientsOf(*fast.executor, fast.options), gradients, 1e-4F);
    for (const auto& [name, values] : gradients) {
      SCOPED_TRACE(name);
      expectNear({values}, {differences(bound, name)}, 0.01F);
    }
  }
}

// An operator that is added needs a case above, or a reason here.
TEST(OperatorGradients, EveryOperatorIsChecked) {
  std::set<std::string> checked{
      "BlockGrad",      // has none: training_test.cpp
      "MakeLoss",       // not the gradient of its output: training_test.cpp
      "Dropout",        // draws anew in each pass: training_test.cpp
      "SoftmaxOutput",  // not the gradient of its output: training_test.cpp
      "_contrib_dequantize",
      "_contrib_quantize_v2",
      "_contrib_requantize",  // have none: quantization_test.cpp
  };
  for (const Case& of : allCases()) checked.insert(of.op);
  for (const graph::NamedOperator* op : graph::namedOperators())
    EXPECT_TRUE(checked.contains(op->name)) << op->name << " has no case here";
}

}  // namespace
}  // namespace pitwall::test::operator_gradients_test
