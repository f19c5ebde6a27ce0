// The networks against the table of MXNet's: parameters, products, arrays and their bytes, operators.
#include "runtime/models.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "runtime/graph/infer_shapes.h"

namespace pitwall::graph::models_test {
namespace {

using testing::HasSubstr;
using Counts = std::map<std::string, int>;

struct Row {
  const char* name;
  std::int64_t parameters;  // with gamma and beta, without moving means and variances
  double gmac;              // of convolutions and dense layers for one image, rounded to 0.001
  int weight_arrays;        // whose name contains weight or bias
  std::int64_t weight_bytes;
  Counts operators;
  double activations_million;  // elements of all outputs of operators for one image; 0 = not in the table
};

const Row kRows[] = {
    {"alexnet",
     50'844'008,
     1.010,
     16,
     203'376'032,
     {{"Convolution", 5},
      {"Activation", 7},
      {"LRN", 2},
      {"Pooling", 3},
      {"FullyConnected", 3},
      {"Dropout", 2}},
     1.80},
    {"vgg-16",
     138'357'544,
     15.470,
     32,
     553'430'176,
     {{"Convolution", 13}, {"Activation", 15}, {"Pooling", 5}, {"FullyConnected", 3}, {"Dropout", 2}},
     28.7},
    {"inception-bn",
     11'295'240,
     1.987,
     140,
     45'100'832,
     {{"Convolution", 69},
      {"BatchNorm", 69},
      {"Activation", 69},
      {"Pooling", 13},
      {"Concat", 10},
      {"FullyConnected", 1}},
     13.4},
    {"inception-v3",
     23'834'568,
     5.713,
     96,
     95'200'544,
     {{"Convolution", 94},
      {"BatchNorm", 94},
      {"Activation", 94},
      {"Pooling", 14},
      {"Concat", 11},
      {"FullyConnected", 1}},
     32.4},
    {"resnet-50",
     25'549'486,
     4.089,
     55,
     102'015'648,
     {{"Convolution", 53},
      {"BatchNorm", 51},
      {"Activation", 50},
      {"elemwise_add", 16},
      {"Pooling", 2},
      {"FullyConnected", 1}},
     36.8},
    {"resnet-152",
     60'185'262,
     11.514,
     157,
     240'165'536,
     {{"Convolution", 155},
      {"BatchNorm", 153},
      {"Activation", 152},
      {"elemwise_add", 50},
      {"Pooling", 2},
      {"FullyConnected", 1}},
     78.7},
    {"resnetv1-50",
     25'557'032,
     3.858,
     55,
     102'015'648,
     {{"Convolution", 53}, {"BatchNorm", 53}, {"Activation", 49}, {"elemwise_add", 16}},
     36.1},
    {"resnet-200", 64'666'286, 15.007, 205, 257'991'328, {{"Convolution", 203}, {"BatchNorm", 201}}, 114},
};

class Networks : public testing::TestWithParam<Row> {};

std::int64_t sizeFor(const char* name) {
  for (const models::Model& model : models::all()) {
    if (std::string_view(model.name) == name) return model.image_size;
  }
  return 0;
}

TEST_P(Networks, ParametersAndOperatorsAreThoseOfTheTable) {
  const Row& row = GetParam();
  const auto net = models::make(row.name);
  ASSERT_TRUE(net.has_value()) << net.error().message;
  const std::int64_t size = sizeFor(row.name);
  const auto shapes = net->inferShapes({{"data", {1, 3, size, size}}});
  ASSERT_TRUE(shapes.has_value()) << shapes.error().message;
  EXPECT_EQ(shapes->outputs.at(0), (Shape{1, 1000}));
  std::int64_t parameters = 0, bytes = 0;
  int arrays = 0;
  const auto names = net->arguments();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "data" || names[i] == "softmax_label") continue;
    const std::int64_t elements = shapes->arguments[i].elements();
    parameters += elements;
    if (names[i].find("weight") == names[i].npos && names[i].find("bias") == names[i].npos) continue;
    ++arrays;
    bytes += 4 * elements;
  }
  EXPECT_EQ(parameters, row.parameters);
  EXPECT_EQ(arrays, row.weight_arrays);
  EXPECT_EQ(bytes, row.weight_bytes);
  const Counts counts = net->operatorCounts();
  for (const auto& [op, count] : row.operators) EXPECT_EQ(counts.at(op), count) << op;
}

TEST_P(Networks, ProductsAndActivationsAreThoseOfTheTable) {
  const Row& row = GetParam();
  const auto net = models::make(row.name);
  ASSERT_TRUE(net.has_value()) << net.error().message;
  const std::int64_t size = sizeFor(row.name);
  const IndexedGraph graph(net->outputs());
  const auto entries = inferEntries(graph, {{"data", {1, 3, size, size}}});
  ASSERT_TRUE(entries.has_value()) << entries.error().message;
  Flop products = 0;
  std::int64_t activations = 0;
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = *graph.nodes[id];
    if (node.isVariable()) continue;
    const NodeShapes shapes = shapesOf(graph, *entries, static_cast<int>(id));
    const std::int64_t out = shapes.outputs[0]->elements();
    activations += out;
    if (!node.attributes.contains("num_filter") && !node.attributes.contains("num_hidden")) continue;
    products += (node.op->flop(node.attributes, shapes) - (node.inputs.size() > 2 ? out : 0)) / 2;
  }
  EXPECT_NEAR(static_cast<double>(products) / 1e9, row.gmac, 0.0005);
  const double million = static_cast<double>(activations) / 1e6;
  EXPECT_NEAR(million, row.activations_million,
              row.activations_million < 10    ? 0.005
              : row.activations_million < 100 ? 0.05
                                              : 0.5);
}

INSTANTIATE_TEST_SUITE_P(Table, Networks, testing::ValuesIn(kRows), [](const auto& about) {
  std::string name = about.param.name;
  std::erase(name, '-');
  return name;
});

TEST(Models, EachHasAName) {
  for (const models::Model& model : models::all()) {
    const auto net = models::make(model.name, 7);
    ASSERT_TRUE(net.has_value()) << net.error().message;
    const auto shapes = net->inferShapes({{"data", {2, 3, model.image_size, model.image_size}}});
    ASSERT_TRUE(shapes.has_value()) << model.name << ": " << shapes.error().message;
    EXPECT_EQ(shapes->outputs.at(0), (Shape{2, 7})) << model.name;
  }
  EXPECT_THAT(models::make("resnet").error().message,
              HasSubstr("there is no network resnet; there are alexnet, "));
  EXPECT_THAT(models::make("alexnet", 0).error().message, HasSubstr("0 classes"));
}

TEST(Models, ImagesThatAreTooSmallNameTheLayer) {
  const auto shapes = models::make("alexnet")->inferShapes({{"data", {1, 3, 20, 20}}});
  ASSERT_FALSE(shapes.has_value());
  EXPECT_THAT(shapes.error().message,
              HasSubstr("pool2 (Pooling): a window of 3 does not fit into 1 elements"));
}

}  // namespace
}  // namespace pitwall::graph::models_test
