#include "runtime/graph/infer_types.h"

#include <gmock/gmock.h>

#include <map>

#include "runtime/executor.h"
#include "tests/runtime/graph/executor_check.h"

namespace pitwall::graph::infer_types_test {
namespace {

using test::node;
using testing::HasSubstr;
using Known = std::map<std::string, DType>;

// Names of arguments, states and outputs with their types; or the message.
std::string inferred(const Symbol& symbol, const Known& known) {
  const auto types = symbol.inferTypes(known);
  if (!types.has_value()) return types.error().message;
  std::string text;
  const auto add = [&text](const std::vector<std::string>& names, const std::vector<DType>& list) {
    for (std::size_t i = 0; i < names.size(); ++i) text += names[i] + "=" + toString(list[i]) + " ";
  };
  add(symbol.arguments(), types->arguments);
  add(symbol.auxiliaryStates(), types->auxiliary_states);
  add(symbol.outputNames(), types->outputs);
  return text.substr(0, text.size() - 1);
}

Symbol dense(const Symbol& data, const char* name = "fc") {
  return node("FullyConnected", name, {data}, {{"num_hidden", "3"}});
}

TEST(InferTypes, GoForwardsAndBackwards) {
  const Symbol net = dense(test::relu("relu", dense(Symbol::variable("data"), "fc1")), "fc2");
  const std::string half =
      "data=float16 fc1_weight=float16 fc1_bias=float16 fc2_weight=float16 fc2_bias=float16 "
      "fc2_output=float16";
  EXPECT_EQ(inferred(net, {{"data", DType::float16}}), half);
  EXPECT_EQ(inferred(net, {{"fc2_bias", DType::float16}}), half) << "from the last operator to the data";
  EXPECT_THAT(inferred(net, {}), HasSubstr("data=float32")) << "what does not follow from anything";
}

TEST(InferTypes, OperatorsMayMixTypes) {
  const Symbol data = Symbol::variable("data");
  EXPECT_EQ(inferred(node("Cast", "cast", {data}, {{"dtype", "float16"}}), {{"data", DType::uint8}}),
            "data=uint8 cast_output=float16");
  EXPECT_EQ(inferred(node("Embedding", "e", {data}, {{"input_dim", "5"}, {"output_dim", "2"}}),
                     {{"data", DType::int32}, {"e_weight", DType::bfloat16}}),
            "data=int32 e_weight=bfloat16 e_output=bfloat16");
  EXPECT_EQ(inferred(node("take", "t", {data, Symbol::variable("at")}), {{"at", DType::int32}}),
            "data=float32 at=int32 t_output=float32");
  EXPECT_EQ(inferred(node("BatchNorm", "bn", {data}), {{"data", DType::float16}}),
            "data=float16 bn_gamma=float32 bn_beta=float32 bn_moving_mean=float32 bn_moving_var=float32 "
            "bn_output=float16");
}

TEST(InferTypes, AttributesOfVariablesCount) {
  EXPECT_EQ(inferred(test::relu("r", Symbol::variable("data", {{"__dtype__", "2"}})), {}),
            "data=float16 r_output=float16");
  EXPECT_THAT(inferred(test::relu("r", Symbol::variable("data", {{"__dtype__", "1"}})), {}),
              HasSubstr("attribute __dtype__=\"1\": arrays are float32 (0)"));
}

TEST(InferTypes, ContradictionsNameTheNode) {
  const Symbol net = dense(Symbol::variable("data"));
  EXPECT_EQ(
      inferred(net, {{"data", DType::float32}, {"fc_weight", DType::float16}}),
      "fc (FullyConnected): weight is float16, must be float32, since data is float32; give both arrays "
      "fitting types, or add a Cast");
  const Symbol cast = node("Cast", "cast", {Symbol::variable("data")}, {{"dtype", "int8"}});
  EXPECT_THAT(
      inferred(node("elemwise_add", "sum", {cast, Symbol::variable("other")}), {{"other", DType::float32}}),
      HasSubstr("sum (elemwise_add): rhs is float32, must be int8, since lhs is int8"));
  EXPECT_THAT(inferred(node("Cast", "cast", {Symbol::variable("data")}, {{"dtype", "float64"}}), {}),
              HasSubstr("cast (Cast): dtype=float64: arrays are float32"));
  EXPECT_THAT(inferred(net, {{"no", DType::int8}}), HasSubstr("a type is given for no"));
}

TEST(InferTypes, ExecutorsRefuseArraysOfMixedTypes) {
  const auto session = test::open("reference");
  const Symbol net = dense(Symbol::variable("data"));
  auto arrays = test::arraysOf(*session, net, {2, 4});
  arrays["fc_weight"] = NDArray::empty(*session, {3, 4}, MemoryTag::weights, DType::float16);
  const auto bound = Executor::bind(*session, net, arrays);
  ASSERT_FALSE(bound.has_value());
  EXPECT_THAT(bound.error().message, HasSubstr("fc (FullyConnected): weight is float16, must be float32"));
}

}  // namespace
}  // namespace pitwall::graph::infer_types_test
