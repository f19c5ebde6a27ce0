#include <gmock/gmock.h>

#include <filesystem>
#include <iterator>

#include "runtime/models.h"
#include "runtime/symbol.h"
#include "tests/support/temp_folder.h"

namespace pitwall::graph::symbol_json_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Nodes that a file with one more node can refer to: 0 data, 1 fc_weight, 2 fc_bias, 3 fc.
constexpr const char* kNodes = R"({"op": "null", "name": "data", "inputs": []},
  {"op": "null", "name": "fc_weight", "inputs": []}, {"op": "null", "name": "fc_bias", "inputs": []},
  {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "4"}, "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]})";

std::string fileWith(const std::string& node, const std::string& heads = "[[3, 0, 0]]",
                     const std::string& more = R"(, "attrs": {"mxnet_version": ["int", 10901]})") {
  return std::string("{\"nodes\": [") + kNodes + (node.empty() ? "" : ", " + node) +
         "], \"arg_nodes\": [0, 1, 2], \"heads\": " + heads + more + "}";
}

std::string failureOf(const std::string& text) {
  const auto symbol = Symbol::fromJson(text, "net-symbol.json");
  return symbol.has_value() ? "" : symbol.error().message;
}

TEST(SymbolJson, IsWrittenAsItIsRead) {
  const auto net = models::make("inception-bn");
  ASSERT_TRUE(net.has_value());
  const std::string text = net->toJson();
  const auto again = Symbol::fromJson(text, "text");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->arguments(), net->arguments());
  EXPECT_EQ(again->auxiliaryStates(), net->auxiliaryStates());
  EXPECT_EQ(again->operatorCounts(), net->operatorCounts());
  EXPECT_EQ(again->toJson(), text);
}

TEST(SymbolJson, ATextWithEveryCharacterIsKept) {
  const std::string name = "a\"b\\c\n\t\x01\xc3\xa9";
  const Symbol variable = Symbol::variable(name, {{"__k__", name}});
  const auto again = Symbol::fromJson(variable.toJson(), "text");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->name(), name);
  EXPECT_EQ(again->attributes().at("__k__"), name);
}

TEST(SymbolJson, FilesAreReplacedWhole) {
  const test::TempFolder folder;
  const std::string path = folder / "net-symbol.json";
  ASSERT_TRUE(models::make("alexnet")->save(path).has_value());
  ASSERT_TRUE(Symbol::variable("x").save(path).has_value());
  const auto read = Symbol::load(path);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_THAT(read->arguments(), ElementsAre("x"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
      << "nothing else is left";
  EXPECT_THAT(Symbol::load(folder / "none.json").error().message, HasSubstr("none.json: cannot be opened"));
  EXPECT_THAT(Symbol::load(folder.path().string()).error().message, HasSubstr("must be a regular file"));
  EXPECT_THAT(Symbol::variable("x").save(folder / "no/such/place").error().message,
              HasSubstr("no/such/place"));
}

// Before 1.0 attributes stood in "attr"; before 0.9 those of the operator in "param", and states were not in the file.
TEST(SymbolJson, OlderFilesAreRead) {
  const std::string old = R"json({"nodes": [
    {"op": "null", "param": {}, "name": "data", "inputs": [], "backward_source_id": -1},
    {"op": "null", "param": {}, "name": "c_weight", "inputs": [], "backward_source_id": -1, "attr": {"lr_mult": "2"}},
    {"op": "Convolution", "param": {"kernel": "(3,3)", "num_filter": "8", "no_bias": "True"}, "name": "c",
     "inputs": [[0, 0], [1, 0]], "attr": {"ctx_group": "a", "weight_lr_mult": "2"}},
    {"op": "null", "param": {}, "name": "b_gamma", "inputs": []}, {"op": "null", "param": {}, "name": "b_beta", "inputs": []},
    {"op": "BatchNorm", "param": {"eps": "0.001"}, "name": "b", "inputs": [[2, 0], [3, 0], [4, 0]]}],
    "arg_nodes": [0, 1, 3, 4], "heads": [[5, 0]]})json";
  const auto net = Symbol::fromJson(old, "old.json");
  ASSERT_TRUE(net.has_value()) << net.error().message;
  EXPECT_THAT(net->arguments(), ElementsAre("data", "c_weight", "b_gamma", "b_beta"));
  EXPECT_THAT(net->auxiliaryStates(), ElementsAre("b_moving_mean", "b_moving_var"));
  const auto conv = net->internals().find("c_output");
  ASSERT_TRUE(conv.has_value());
  EXPECT_EQ(conv->attributes().at("__ctx_group__"), "a");
  EXPECT_EQ(conv->attributes().at("__weight_lr_mult__"), "2");
}

TEST(SymbolJson, DamagedFilesAreMessagesThatNameTheNode) {
  EXPECT_EQ(failureOf(fileWith("")), "");
  EXPECT_THAT(failureOf(""), HasSubstr("net-symbol.json: at byte 0: it is no JSON"));
  EXPECT_THAT(failureOf(fileWith("").substr(0, 100)), HasSubstr("it is no JSON"));
  EXPECT_THAT(failureOf("[]"), HasSubstr("it is no JSON object"));
  EXPECT_THAT(failureOf("{}"), HasSubstr("it has no list \"nodes\""));
  EXPECT_THAT(failureOf(R"({"nodes": {}})"), HasSubstr("it has no list \"nodes\""));
  EXPECT_THAT(failureOf(R"({"nodes": []})"), HasSubstr("it has no list \"heads\""));
  EXPECT_THAT(failureOf(fileWith("", "[]")), HasSubstr("the list heads is empty"));
  EXPECT_THAT(failureOf(fileWith("", "[[4, 0, 0]]")), HasSubstr("heads: there is no node 4, the file has 4"));
  EXPECT_THAT(failureOf(fileWith("", "[[3, 1, 0]]")),
              HasSubstr("heads: fc (FullyConnected) has 1 output, there is no output 1"));
  EXPECT_THAT(failureOf(fileWith("", "[[-1, 0]]")), HasSubstr("must be [node, output, 0]"));
  EXPECT_THAT(failureOf(fileWith("", "[3]")), HasSubstr("must be [node, output, 0]"));
  EXPECT_THAT(failureOf(fileWith("7")), HasSubstr("node 4 without a name: it must be an object"));
  EXPECT_THAT(failureOf(fileWith(R"({"op": "relu", "name": 3, "inputs": []})")),
              HasSubstr("\"name\" is missing or no text"));
  EXPECT_THAT(failureOf(fileWith(R"({"op": "relu", "name": "r"})")),
              HasSubstr("node 4 r: \"inputs\" is missing"));
  EXPECT_THAT(failureOf(fileWith(R"({"op": "relu", "name": "r", "attrs": 1, "inputs": []})")),
              HasSubstr("\"attrs\" must be an object"));
  EXPECT_THAT(failureOf(fileWith(R"({"op": "relu", "name": "r", "attrs": {"a": 1}, "inputs": []})")),
              HasSubstr("node 4 r: attribute a must be a text in quotes"));
  EXPECT_THAT(failureOf(fileWith(R"({"op": "null", "name": "v", "inputs": [[0, 0, 0]]})")),
              HasSubstr("it is a variable"));
  EXPECT_THAT(failureOf(fileWith("", "[[3, 0, 0]]", R"(, "attrs": {"mxnet_version": "10901"})")),
              HasSubstr("mxnet_version must be"));
  std::string no_variable = fileWith("");
  no_variable.replace(no_variable.find("[0, 1, 2]"), 9, "[0, 1, 3]");
  EXPECT_THAT(failureOf(no_variable), HasSubstr("\"arg_nodes\" must be the numbers of the variables"));
}

TEST(SymbolJson, HostileGraphsAreMessagesThatNameTheNode) {
  const auto withRelu = [](const std::string& inputs) {
    return failureOf(fileWith(R"({"op": "relu", "name": "r", "inputs": )" + inputs + "}"));
  };
  EXPECT_THAT(
      withRelu("[[4, 0, 0]]"),
      HasSubstr("node 4 r: it takes node 4, which is itself or comes later, so there may be a cycle"));
  EXPECT_THAT(withRelu("[[5, 0, 0]]"), HasSubstr("node 4 r: there is no node 5, the file has 5"));
  EXPECT_THAT(withRelu("[[3, 7, 0]]"),
              HasSubstr("node 4 r: fc (FullyConnected) has 1 output, there is no output 7"));
  EXPECT_THAT(withRelu("[]"), HasSubstr("node 4 r: 1 of its 1 inputs are missing"));
  EXPECT_THAT(withRelu("[[0, 0, 0], [0, 0, 0]]"),
              HasSubstr("node 4 r (relu): it takes 1 input (data), 2 given"));
  EXPECT_THAT(failureOf(fileWith(
                  R"({"op": "FullyConnected", "name": "g", "attrs": {"num_hidden": "-3"}, "inputs": []})")),
              HasSubstr("node 4 g (FullyConnected): attribute num_hidden=\"-3\" must be an integer from 1"));
  EXPECT_THAT(
      failureOf(fileWith(
          R"({"op": "split", "name": "s", "attrs": {"num_outputs": "2000000000"}, "inputs": [[0, 0, 0]]})")),
      HasSubstr("from 1 to 65536"));
  std::string many;
  for (int i = 0; i < 17; ++i)
    many += R"({"op": "split", "name": "s", "attrs": {"num_outputs": "65536"}, "inputs": [[0, 0, 0]]})" +
            std::string(i < 16 ? "," : "");
  EXPECT_THAT(failureOf(fileWith(many)), HasSubstr("the nodes have more than 1048576 outputs"));
  EXPECT_THAT(
      failureOf(fileWith(R"({"op": "relu", "name": "r", "control_deps": [0], "inputs": [[0, 0, 0]]})")),
      HasSubstr("node 4 r: \"control_deps\" are not supported"));
  EXPECT_THAT(failureOf(std::string(100'000, '[')), HasSubstr("it is no JSON"));
  EXPECT_THAT(failureOf(std::string(100'000, '[') + std::string(100'000, ']')),
              HasSubstr("it is no JSON object"));
}

TEST(SymbolJson, OperatorsThatAreMissingAreNamedWithTheirNodes) {
  const auto symbol = Symbol::fromJson(
      fileWith(
          R"({"op": "Custom", "name": "mine", "inputs": []}, {"op": "Custom", "name": "second", "inputs": []},
                  {"op": "ROIPooling", "name": "roi", "inputs": []})"),
      "net-symbol.json");
  ASSERT_FALSE(symbol.has_value());
  EXPECT_EQ(symbol.error().code, ErrorCode::unsupported);
  EXPECT_EQ(symbol.error().message,
            "net-symbol.json: operators that are not supported: Custom (node mine), ROIPooling (node roi)");
}

}  // namespace
}  // namespace pitwall::graph::symbol_json_test
