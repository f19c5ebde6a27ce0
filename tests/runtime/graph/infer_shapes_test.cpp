#include "runtime/graph/infer_shapes.h"

#include <gmock/gmock.h>

#include <map>

#include "runtime/symbol.h"

namespace pitwall::graph::infer_shapes_test {
namespace {

using testing::HasSubstr;
using Known = std::map<std::string, Shape>;

Symbol variable(const char* name) { return Symbol::variable(name); }

Symbol node(const char* op, const std::vector<Symbol>& inputs, Attributes attributes = {},
            const char* name = "x") {
  auto symbol = Symbol::make(op, name, inputs, std::move(attributes));
  EXPECT_TRUE(symbol.has_value()) << symbol.error().message;
  return symbol.value();
}

// Names of arguments, states and outputs with their shapes; or the message.
std::string inferred(const Symbol& symbol, const Known& known) {
  const auto shapes = symbol.inferShapes(known);
  if (!shapes.has_value()) return shapes.error().message;
  std::string text;
  const auto add = [&text](const std::vector<std::string>& names, const std::vector<Shape>& list) {
    for (std::size_t i = 0; i < names.size(); ++i) text += names[i] + "=" + list[i].toString() + " ";
  };
  add(symbol.arguments(), shapes->arguments);
  add(symbol.auxiliaryStates(), shapes->auxiliary_states);
  add(symbol.outputNames(), shapes->outputs);
  return text.substr(0, text.size() - 1);
}

// Of one operator on the data.
std::string outputOf(const char* op, Attributes attributes, const Shape& data) {
  const auto symbol = Symbol::make(op, "x", {variable("data")}, std::move(attributes));
  if (!symbol.has_value()) return symbol.error().message;
  const auto shapes = symbol->inferShapes({{"data", data}});
  return shapes.has_value() ? shapes->outputs[0].toString() : shapes.error().message;
}

TEST(InferShapes, WeightsFollowFromData) {
  EXPECT_EQ(inferred(node("Convolution", {variable("data")},
                          {{"kernel", "(3, 5)"},
                           {"num_filter", "8"},
                           {"num_group", "2"},
                           {"stride", "(2, 1)"},
                           {"pad", "(1, 0)"},
                           {"dilate", "(1, 2)"}}),
                     {{"data", {2, 4, 9, 12}}}),
            "data=2x4x9x12 x_weight=8x2x3x5 x_bias=8 x_output=2x8x5x4");
  EXPECT_EQ(
      inferred(node("Deconvolution", {variable("data")},
                    {{"kernel", "(4, 4)"}, {"num_filter", "6"}, {"stride", "(2, 2)"}, {"pad", "(1, 1)"}}),
               {{"data", {2, 4, 5, 7}}}),
      "data=2x4x5x7 x_weight=4x6x4x4 x_output=2x6x10x14");
  EXPECT_EQ(
      inferred(node("FullyConnected", {variable("data")}, {{"num_hidden", "10"}}), {{"data", {2, 4, 5}}}),
      "data=2x4x5 x_weight=10x20 x_bias=10 x_output=2x10");
  EXPECT_EQ(inferred(node("FullyConnected", {variable("data")},
                          {{"num_hidden", "10"}, {"flatten", "False"}, {"no_bias", "1"}}),
                     {{"data", {2, 4, 5}}}),
            "data=2x4x5 x_weight=10x5 x_output=2x4x10");
  EXPECT_EQ(inferred(node("BatchNorm", {variable("data")}), {{"data", {2, 3, 4, 4}}}),
            "data=2x3x4x4 x_gamma=3 x_beta=3 x_moving_mean=3 x_moving_var=3 x_output=2x3x4x4");
  EXPECT_EQ(inferred(node("LayerNorm", {variable("data")}), {{"data", {2, 3, 4}}}),
            "data=2x3x4 x_gamma=4 x_beta=4 x_output=2x3x4");
  EXPECT_EQ(inferred(node("Embedding", {variable("data")}, {{"input_dim", "100"}, {"output_dim", "7"}}),
                     {{"data", {5, 2}}}),
            "data=5x2 x_weight=100x7 x_output=5x2x7");
  EXPECT_EQ(inferred(node("SoftmaxOutput", {variable("data")}), {{"data", {4, 10}}}),
            "data=4x10 x_label=4 x_output=4x10");
  EXPECT_EQ(inferred(node("SoftmaxOutput", {variable("data")}, {{"multi_output", "True"}}),
                     {{"data", {4, 10, 3, 2}}}),
            "data=4x10x3x2 x_label=4x6 x_output=4x10x3x2");
}

TEST(InferShapes, ParametersOfRecurrentNetworks) {
  const Attributes lstm = {
      {"mode", "lstm"}, {"state_size", "6"}, {"num_layers", "2"}, {"state_outputs", "True"}};
  // Each layer and direction: gates x state x (input + state + 2).
  EXPECT_EQ(inferred(node("RNN", {variable("data")}, lstm), {{"data", {5, 3, 4}}}),
            "data=5x3x4 x_parameters=624 x_state=2x3x6 x_state_cell=2x3x6 x_output=5x3x6 x_state=2x3x6 "
            "x_state_cell=2x3x6");
  EXPECT_EQ(
      inferred(node("RNN", {variable("data")},
                    {{"mode", "gru"}, {"state_size", "6"}, {"num_layers", "2"}, {"bidirectional", "True"}}),
               {{"data", {5, 3, 4}}}),
      "data=5x3x4 x_parameters=1152 x_state=4x3x6 x_output=5x3x12");
}

TEST(InferShapes, DataFollowsFromWhatUsesIt) {
  const Symbol a = variable("a"), b = variable("b");
  EXPECT_EQ(inferred(node("elemwise_add", {node("relu", {a}, {}, "r"), b}), {{"b", {2, 3}}}),
            "a=2x3 b=2x3 x_output=2x3");
  const Symbol conv =
      node("Convolution", {a}, {{"kernel", "(3, 3)"}, {"num_filter", "8"}, {"no_bias", "True"}}, "conv");
  EXPECT_EQ(inferred(node("elemwise_add", {conv, b}), {{"b", {2, 8, 4, 4}}, {"conv_weight", {8, 5, 3, 3}}}),
            "a=2x5x6x6 conv_weight=8x5x3x3 b=2x8x4x4 x_output=2x8x4x4");
  EXPECT_EQ(inferred(node("Concat", {a, b, variable("c")}), {{"a", {2, 3}}, {"c", {2, 4}}, {"b", {0, 5}}}),
            "a=2x3 b=2x5 c=2x4 x_output=2x12");
  EXPECT_EQ(inferred(node("transpose", {a}, {{"axes", "(1, 2, 0)"}}), {{"a", {4, 5, 6}}}),
            "a=4x5x6 x_output=5x6x4");
}

// An extent of 0 is unknown: the batch of the images follows from the labels.
TEST(InferShapes, PartsOfAShapeAreEnough) {
  const Symbol data = variable("data"), label = variable("label");
  const Symbol flat =
      node("Flatten", {node("Pooling", {data}, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}}, "pool")});
  const Symbol fc = node("FullyConnected", {flat}, {{"num_hidden", "10"}}, "fc");
  const Symbol out = node("elemwise_add", {fc, label}, {}, "sum");
  EXPECT_EQ(inferred(out, {{"data", {0, 3, 4, 4}}, {"label", {7, 10}}}),
            "data=7x3x4x4 fc_weight=10x12 fc_bias=10 label=7x10 sum_output=7x10");
}

TEST(InferShapes, AnAttributeOfAVariableCounts) {
  const Symbol weight = Symbol::variable("w", {{"__shape__", "(10, 0)"}});
  const Symbol data = Symbol::variable("data", {{"__shape__", "(2, 5)"}});
  const Symbol fc = node("FullyConnected", {data, weight}, {{"num_hidden", "10"}, {"no_bias", "True"}});
  EXPECT_EQ(inferred(fc, {}), "data=2x5 w=10x5 x_output=2x10");
  EXPECT_EQ(inferred(fc, {{"data", {3, 6}}}), "data=3x6 w=10x6 x_output=3x10") << "what is given comes first";
  EXPECT_THAT(inferred(node("relu", {Symbol::variable("d", {{"__shape__", "(2, y)"}})}), {}),
              HasSubstr("d (variable): attribute __shape__=\"(2, y)\""));
}

TEST(InferShapes, Windows) {
  const auto pooled = [](Attributes attributes) {
    attributes.try_emplace("kernel", "(3, 3)");
    attributes.try_emplace("stride", "(2, 2)");
    return outputOf("Pooling", attributes, {1, 2, 8, 9});
  };
  EXPECT_EQ(pooled({}), "1x2x3x4");
  EXPECT_EQ(pooled({{"pooling_convention", "full"}}), "1x2x4x4");
  EXPECT_EQ(pooled({{"pad", "(1, 1)"}}), "1x2x4x5");
  EXPECT_EQ(pooled({{"stride", "()"}}), "1x2x6x7");
  EXPECT_EQ(pooled({{"global_pool", "True"}}), "1x2x1x1");
  EXPECT_THAT(pooled({{"pooling_convention", "same"}}), HasSubstr("must be valid or full"));
  EXPECT_THAT(pooled({{"kernel", "(9, 9)"}}),
              HasSubstr("x (Pooling): a window of 9 does not fit into 8 elements"));
  EXPECT_THAT(pooled({{"pad", "(3, 3)"}}), HasSubstr("pad 3 must be less than kernel 3"));
  EXPECT_THAT(pooled({{"layout", "NHWC"}}), HasSubstr("channels must be axis 1"));
}

TEST(InferShapes, ReshapeHasMXNetsCodes) {
  const auto reshaped = [](const char* codes, Attributes attributes = {}) {
    attributes["shape"] = codes;
    return outputOf("Reshape", attributes, {2, 3, 4});
  };
  EXPECT_EQ(reshaped("(4, 6)"), "4x6");
  EXPECT_EQ(reshaped("(0, -1)"), "2x12");
  EXPECT_EQ(reshaped("(-2,)"), "2x3x4");
  EXPECT_EQ(reshaped("(-2, 1, 1)"), "2x3x4x1x1");
  EXPECT_EQ(reshaped("(-3, 4)"), "6x4");
  EXPECT_EQ(reshaped("(-4, 1, 2, -2)"), "1x2x3x4");
  EXPECT_EQ(reshaped("(2, -4, -1, 3, -2)"), "2x1x3x4");
  EXPECT_EQ(reshaped("(-1, 0)", {{"reverse", "True"}}), "6x4");
  EXPECT_THAT(reshaped("(5, -1)"), HasSubstr("data 2x3x4 with 24 elements does not fit shape=(5, -1)"));
  EXPECT_THAT(reshaped("(-1, -1)"), HasSubstr("more than one extent is -1"));
  EXPECT_THAT(reshaped("(0, 0, 0, 0)"), HasSubstr("the code 0 needs an axis"));
  EXPECT_THAT(reshaped("(-4, 5, -1)"), HasSubstr("cannot split 2"));
  EXPECT_THAT(reshaped("(-5,)"), HasSubstr("must be integers from -4"));
}

TEST(InferShapes, Axes) {
  EXPECT_EQ(outputOf("sum", {{"axis", "(1, -1)"}}, {2, 3, 4}), "2");
  EXPECT_EQ(outputOf("mean", {{"axis", "1"}, {"keepdims", "True"}}, {2, 3, 4}), "2x1x4");
  EXPECT_EQ(outputOf("max", {{"axis", "1"}, {"exclude", "True"}}, {2, 3, 4}), "3");
  EXPECT_EQ(outputOf("sum", {}, {2, 3, 4}), "1");
  EXPECT_EQ(outputOf("SwapAxis", {{"dim1", "0"}, {"dim2", "2"}}, {2, 3, 4}), "4x3x2");
  EXPECT_EQ(outputOf("transpose", {}, {2, 3, 4}), "4x3x2");
  EXPECT_EQ(outputOf("slice_axis", {{"axis", "1"}, {"begin", "-2"}, {"end", "None"}}, {2, 3, 4}), "2x2x4");
  EXPECT_EQ(outputOf("expand_dims", {{"axis", "-1"}}, {2, 3}), "2x3x1");
  EXPECT_EQ(outputOf("squeeze", {}, {2, 1, 3, 1}), "2x3");
  EXPECT_EQ(outputOf("split", {{"num_outputs", "3"}, {"squeeze_axis", "True"}}, {2, 3, 4}), "2x4");
  EXPECT_THAT(outputOf("split", {{"num_outputs", "2"}}, {2, 3, 4}),
              HasSubstr("2 outputs do not divide axis 1"));
  EXPECT_THAT(outputOf("transpose", {{"axes", "(0, 0, 1)"}}, {2, 3, 4}), HasSubstr("must name each axis"));
  EXPECT_THAT(outputOf("softmax", {{"axis", "3"}}, {2, 3, 4}),
              HasSubstr("axis=3 is no axis of an array with 3"));
  EXPECT_THAT(outputOf("slice_axis", {{"axis", "1"}, {"begin", "2"}, {"end", "2"}}, {2, 3}),
              HasSubstr("begin and end"));
}

TEST(InferShapes, Products) {
  const Symbol a = variable("a"), b = variable("b");
  EXPECT_EQ(inferred(node("dot", {a, b}), {{"a", {2, 3, 4}}, {"b", {4, 5}}}), "a=2x3x4 b=4x5 x_output=2x3x5");
  EXPECT_EQ(inferred(node("dot", {a, b}, {{"transpose_a", "True"}, {"transpose_b", "True"}}),
                     {{"a", {3, 2}}, {"b", {5, 3}}}),
            "a=3x2 b=5x3 x_output=2x5");
  EXPECT_EQ(
      inferred(node("batch_dot", {a, b}, {{"transpose_b", "True"}}), {{"a", {7, 2, 3}}, {"b", {7, 5, 3}}}),
      "a=7x2x3 b=7x5x3 x_output=7x2x5");
  EXPECT_EQ(inferred(node("take", {a, b}, {{"axis", "1"}}), {{"a", {2, 9, 4}}, {"b", {5, 6}}}),
            "a=2x9x4 b=5x6 x_output=2x5x6x4");
  EXPECT_EQ(inferred(node("broadcast_mul", {a, b}), {{"a", {2, 3, 4}}, {"b", {3, 1}}}),
            "a=2x3x4 b=3x1 x_output=2x3x4");
  EXPECT_THAT(inferred(node("dot", {a, b}), {{"a", {2, 3}}, {"b", {4, 5}}}),
              HasSubstr("differ in the axis that is summed"));
  EXPECT_THAT(inferred(node("broadcast_add", {a, b}), {{"a", {2, 3}}, {"b", {2, 4}}}),
              HasSubstr("differ in axis 1"));
}

TEST(InferShapes, MistakesNameTheNodeAndTheShapes) {
  const Symbol data = variable("data");
  const Symbol fc = node("FullyConnected", {data}, {{"num_hidden", "10"}}, "fc1");
  EXPECT_EQ(inferred(fc, {}),
            "the shapes of these arguments do not follow from those given: data, fc1_weight; give them");
  EXPECT_EQ(inferred(fc, {{"date", {2, 3}}}), "a shape is given for date, but there is no such argument");
  EXPECT_EQ(inferred(fc, {{"data", {2, 3}}, {"fc1_weight", {10, 4}}}),
            "fc1 (FullyConnected): weight has shape 10x4, must be 10x3");
  EXPECT_EQ(inferred(fc, {{"data", {2}}}),
            "fc1 (FullyConnected): data has shape 2, must have at least 2 axes");
  EXPECT_EQ(inferred(node("elemwise_add", {data, variable("b")}), {{"data", {2, 3}}, {"b", {3, 2}}}),
            "x (elemwise_add): input 1 has shape 3x2, the others 2x3");
  EXPECT_THAT(inferred(node("Concat", {data, variable("b")}), {{"data", {2, 3, 4}}, {"b", {2, 3, 5}}}),
              HasSubstr("x (Concat): arg1 has shape 2x3x5: all but axis 1 must be 2x?x4"));
  EXPECT_EQ(inferred(node("elemwise_add", {variable("a"), variable("a")}), {{"a", {2}}}),
            "two variables have the name a: give each its own name");
  EXPECT_THAT(inferred(node("relu", {data}), {{"data", {2, -1}}}),
              HasSubstr("data (variable): an extent of -1 is given"));
}

TEST(InferShapes, HugeShapesAreMessages) {
  const std::int64_t large = std::int64_t{1} << 31;
  EXPECT_EQ(outputOf("relu", {}, {large, large, large}),
            "data (variable): an array of 2147483648x2147483648x2147483648 has more than 2^40 elements");
  EXPECT_THAT(
      outputOf("Embedding", {{"input_dim", "2147483647"}, {"output_dim", "2147483647"}}, {2, 2}),
      HasSubstr("x_weight (variable): an array of 2147483647x2147483647 has more than 2^40 elements"));
  EXPECT_THAT(outputOf("RNN", {{"mode", "lstm"}, {"state_size", "2147483647"}, {"num_layers", "2147483647"}},
                       {2, 2, 2}),
              HasSubstr("more parameters than can be counted"));
  EXPECT_THAT(
      outputOf("Deconvolution", {{"kernel", "(1, 1)"}, {"num_filter", "1"}, {"stride", "(1000000, 1)"}},
               {1, 1, large, 1}),
      HasSubstr("x (Deconvolution): an array of 1x1x2147483647000001x1 has more than 2^40 elements"));
  EXPECT_THAT(outputOf("Pooling", {{"kernel", "(99999999, 1)"}}, {1, 1, 2, 2}),
              HasSubstr("from 1 to 1048576"));
}

// A chain whose end alone is known, and a chain in the other direction.
TEST(InferShapes, LongChainsInBothDirections) {
  Symbol chain = variable("data");
  for (int i = 0; i < 20'000; ++i) chain = node("relu", {chain}, {}, "r");
  EXPECT_EQ(inferred(chain, {{"data", {2, 3}}}), "data=2x3 r_output=2x3");
  EXPECT_EQ(inferred(node("elemwise_add", {chain, variable("b")}), {{"b", {2, 3}}}),
            "data=2x3 b=2x3 x_output=2x3");
}

}  // namespace
}  // namespace pitwall::graph::infer_shapes_test
