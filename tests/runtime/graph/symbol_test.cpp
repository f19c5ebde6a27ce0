#include "runtime/symbol.h"

#include <gmock/gmock.h>

#include "runtime/graph/attribute_rules.h"
#include "runtime/graph/named_operators.h"
#include "runtime/graph/node.h"

namespace pitwall::graph::symbol_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Symbol madeSymbol(const char* op, const char* name, const std::vector<Symbol>& inputs,
                  Attributes attributes = {}) {
  auto symbol = Symbol::make(op, name, inputs, std::move(attributes));
  EXPECT_TRUE(symbol.has_value()) << symbol.error().message;
  return symbol.value();
}

std::string failureOf(const char* op, const std::vector<Symbol>& inputs, Attributes attributes = {}) {
  const auto symbol = Symbol::make(op, "x", inputs, std::move(attributes));
  return symbol.has_value() ? "" : symbol.error().message;
}

Symbol smallNet() {
  const Symbol data = Symbol::variable("data");
  const Symbol conv = madeSymbol("Convolution", "conv", {data}, {{"kernel", "(3, 3)"}, {"num_filter", "8"}});
  const Symbol bn = madeSymbol("BatchNorm", "bn", {conv});
  const Symbol relu = madeSymbol("Activation", "relu", {bn}, {{"act_type", "relu"}});
  const Symbol fc = madeSymbol("FullyConnected", "fc", {relu}, {{"num_hidden", "10"}});
  return madeSymbol("SoftmaxOutput", "softmax", {fc});
}

TEST(SymbolNames, AreThoseOfMXNetInItsOrder) {
  const Symbol net = smallNet();
  EXPECT_THAT(net.arguments(), ElementsAre("data", "conv_weight", "conv_bias", "bn_gamma", "bn_beta",
                                           "fc_weight", "fc_bias", "softmax_label"));
  EXPECT_THAT(net.auxiliaryStates(), ElementsAre("bn_moving_mean", "bn_moving_var"));
  EXPECT_THAT(net.outputNames(), ElementsAre("softmax_output"));
  EXPECT_THAT(net.internals().outputNames(),
              ElementsAre("data", "conv_weight", "conv_bias", "conv_output", "bn_gamma", "bn_beta",
                          "bn_moving_mean", "bn_moving_var", "bn_output", "relu_output", "fc_weight",
                          "fc_bias", "fc_output", "softmax_label", "softmax_output"));
  EXPECT_EQ(net.name(), "softmax");
}

TEST(SymbolNames, OfSeveralOutputs) {
  const Symbol parts = madeSymbol("split", "parts", {Symbol::variable("data")}, {{"num_outputs", "3"}});
  EXPECT_THAT(parts.outputNames(), ElementsAre("parts_output0", "parts_output1", "parts_output2"));
  const Symbol both = Symbol::group({parts[2], parts[0]});
  EXPECT_THAT(both.outputNames(), ElementsAre("parts_output2", "parts_output0"));
  EXPECT_THAT(both.arguments(), ElementsAre("data"));
  EXPECT_EQ(both.name(), "") << "of one output only";
  EXPECT_THAT(failureOf("Flatten", {parts}), HasSubstr("input 0 has 3 outputs, must have 1"));
}

TEST(SymbolNames, AnInternalOutputIsFound) {
  const auto inner = smallNet().internals().find("relu_output");
  ASSERT_TRUE(inner.has_value()) << inner.error().message;
  EXPECT_THAT(inner->arguments(), ElementsAre("data", "conv_weight", "conv_bias", "bn_gamma", "bn_beta"));
  EXPECT_FALSE(smallNet().find("relu_output").has_value()) << "it is no output of the whole";
}

TEST(SymbolNames, AVariableThatWasMadeHasTheAttributesOfItsOperator) {
  const auto weight = smallNet().internals().find("conv_weight");
  ASSERT_TRUE(weight.has_value());
  EXPECT_EQ(weight->attributes().at("num_filter"), "8");
}

TEST(SymbolMistakes, AreMessages) {
  const Symbol data = Symbol::variable("data");
  EXPECT_THAT(failureOf("Convoluton", {data}), HasSubstr("x: there is no operator Convoluton"));
  EXPECT_THAT(failureOf("Convolution", {data}),
              HasSubstr("x (Convolution): the attribute kernel is missing"));
  const Attributes good = {{"kernel", "(3, 3)"}, {"num_filter", "8"}};
  const auto with = [&good](const char* name, const char* value) {
    Attributes attributes = good;
    attributes[name] = value;
    return attributes;
  };
  EXPECT_THAT(failureOf("Convolution", {data}, with("kernel", "(3, x)")),
              HasSubstr("kernel=\"(3, x)\" must be integers"));
  EXPECT_THAT(failureOf("Convolution", {data}, with("kernel", "(3, 0)")), HasSubstr("from 1 to 1048576"));
  EXPECT_THAT(failureOf("Convolution", {data}, with("num_filter", "8.5")), HasSubstr("must be an integer"));
  EXPECT_THAT(failureOf("Convolution", {data}, with("num_filter", "99999999999999999999")),
              HasSubstr("must be an integer"));
  EXPECT_THAT(failureOf("Convolution", {data}, with("no_bias", "yes")), HasSubstr("must be True or False"));
  EXPECT_THAT(failureOf("Convolution", {data}, with("filters", "8")),
              HasSubstr("it has no attribute filters; it has kernel, "));
  EXPECT_THAT(failureOf("Convolution", {data}, with("__lr_mult__", "anything")), IsEmpty());
  EXPECT_THAT(failureOf("Activation", {data}, {{"act_type", "gelu"}}),
              HasSubstr("must be one of relu/sigmoid/"));
  EXPECT_THAT(failureOf("Activation", {data, data}, {{"act_type", "relu"}}),
              HasSubstr("it takes 1 input (data), 2 given"));
  EXPECT_THAT(failureOf("Concat", {data, data}, {{"num_args", "3"}}),
              HasSubstr("it takes 3 inputs, 2 given"));
  EXPECT_THAT(
      failureOf("BatchNorm", {data, data, data, madeSymbol("Flatten", "flat", {data})}),
      HasSubstr(
          "its input moving_mean is updated by the operator, so it must be a variable, not flat (Flatten)"));
}

TEST(SymbolGraph, AChainOfAnyLengthIsVisitedAndDestroyed) {
  constexpr int kLength = 100'000;
  std::string text = R"({"nodes": [{"op": "null", "name": "data", "inputs": []})";
  for (int i = 0; i < kLength; ++i)
    text += R"(, {"op": "relu", "name": "r", "inputs": [[)" + std::to_string(i) + ", 0, 0]]}";
  text += "], \"heads\": [[" + std::to_string(kLength) + ", 0, 0]]}";
  const auto chain = Symbol::fromJson(text, "chain");
  ASSERT_TRUE(chain.has_value()) << chain.error().message;
  EXPECT_EQ(chain->operatorCounts().at("relu"), kLength);
}

TEST(NamedOperators, OtherNamesAreTheSame) {
  EXPECT_EQ(findNamedOperator("_Plus"), findNamedOperator("elemwise_add"));
  EXPECT_EQ(findNamedOperator("flatten"), findNamedOperator("Flatten"));
  EXPECT_EQ(findNamedOperator("nothing"), nullptr);
}

// What stands in the tables is not checked when an operator is made.
TEST(NamedOperators, StandardsOfTheirAttributesAreAllowed) {
  for (const NamedOperator* op : namedOperators()) {
    Attributes standards;
    std::vector<AttributeRule> optional;
    for (const AttributeRule& rule : op->attributes) {
      if (rule.standard == nullptr) continue;
      standards[rule.name] = rule.standard;
      optional.push_back(rule);
    }
    const Status valid = checkAttributes(optional, standards);
    EXPECT_TRUE(valid.has_value()) << op->name << ": " << valid.error().message;
  }
}

TEST(AttributeTuples, AsPythonWritesThem) {
  const auto parsed = [](std::string_view text) {
    return parseTuple(text).value_or(std::vector<std::int64_t>{-99});
  };
  EXPECT_THAT(parsed("(3, 4)"), ElementsAre(3, 4));
  EXPECT_THAT(parsed("[3,4]"), ElementsAre(3, 4));
  EXPECT_THAT(parsed("(3,)"), ElementsAre(3));
  EXPECT_THAT(parsed("7"), ElementsAre(7));
  EXPECT_THAT(parsed("(3L, -1L)"), ElementsAre(3, -1));
  EXPECT_THAT(parsed("()"), IsEmpty());
  for (const char* bad : {"", "(", "(3", "3)", "(3;4)", "(,)", "(a)", "(3 4)", "[3)"})
    EXPECT_THAT(parsed(bad), ElementsAre(-99)) << bad;
}

}  // namespace
}  // namespace pitwall::graph::symbol_test
