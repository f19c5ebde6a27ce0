// The networks against the table of MXNet's: parameters, products, arrays and their bytes, operators.
#include "runtime/models.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <utility>

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

// Calls visit(node, its shapes) for each operator, for one image.
template <class Visit>
void operatorsOf(const char* name, Visit visit) {
  const auto net = models::make(name);
  ASSERT_TRUE(net.has_value()) << net.error().message;
  const std::int64_t size = sizeFor(name);
  const IndexedGraph graph(net->outputs());
  const auto entries = inferEntries(graph, {{"data", {1, 3, size, size}}});
  ASSERT_TRUE(entries.has_value()) << entries.error().message;
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!graph.nodes[id]->isVariable())
      visit(*graph.nodes[id], shapesOf(graph, *entries, static_cast<int>(id)));
  }
}

// Of convolutions and dense layers.
Flop productsOf(const char* name) {
  Flop products = 0;
  operatorsOf(name, [&](const Node& node, const NodeShapes& shapes) {
    if (!node.attributes.contains("num_filter") && !node.attributes.contains("num_hidden")) return;
    const std::int64_t biases = node.inputs.size() > 2 ? shapes.outputs[0]->elements() : 0;
    products += (node.op->flop(node.attributes, shapes) - biases) / 2;
  });
  return products;
}

TEST_P(Networks, ProductsAndActivationsAreThoseOfTheTable) {
  const Row& row = GetParam();
  EXPECT_NEAR(static_cast<double>(productsOf(row.name)) / 1e9, row.gmac, 0.0005);
  std::int64_t activations = 0;
  operatorsOf(row.name,
              [&](const Node&, const NodeShapes& shapes) { activations += shapes.outputs[0]->elements(); });
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

// What MXNet's documents say of its model zoo: parameters with moving means and variances.
TEST(Models, OfTheModelZooHaveItsParameters) {
  const struct {
    const char* name;
    std::int64_t parameters;
    const char* argument;  // one of them, as trained files name it
  } rows[] = {
      {"densenet121", 8'062'504, "densenet0_stage4_conv31_weight"},
      {"densenet161", 28'900'936, "densenet0_batchnorm0_gamma"},
      {"densenet169", 14'307'880, "densenet0_conv3_weight"},
      {"densenet201", 20'242'984, "densenet0_dense0_bias"},
      {"mobilenet0.25", 475'544, "mobilenet0_conv26_weight"},
      {"mobilenet0.5", 1'342'536, "mobilenet0_batchnorm26_beta"},
      {"mobilenet0.75", 2'601'976, "mobilenet0_dense0_weight"},
      {"mobilenet1.0", 4'253'864, "mobilenet0_conv0_weight"},
      {"mobilenetv2_0.25", 1'526'856, "mobilenetv20_features_linearbottleneck16_conv2_weight"},
      {"mobilenetv2_0.5", 1'983'104, "mobilenetv20_output_pred_weight"},
      {"mobilenetv2_0.75", 2'653'864, "mobilenetv20_features_conv1_weight"},
      {"mobilenetv2_1.0", 3'539'136, "mobilenetv20_features_linearbottleneck0_batchnorm2_gamma"},
      {"squeezenet1.0", 1'248'424, "squeezenet0_conv25_bias"},
      {"squeezenet1.1", 1'235'496, "squeezenet0_conv0_weight"},
      {"vgg11_bn", 132'874'344, "vgg0_batchnorm7_gamma"},
      {"vgg13_bn", 133'059'624, "vgg0_conv9_bias"},
      {"vgg16_bn", 138'374'440, "vgg0_dense2_weight"},
      {"vgg19_bn", 143'689'256, "vgg0_conv15_weight"},
  };
  for (const auto& [name, parameters, argument] : rows) {
    SCOPED_TRACE(name);
    const auto net = models::make(name);
    ASSERT_TRUE(net.has_value()) << net.error().message;
    const auto shapes = net->inferShapes({{"data", {1, 3, 224, 224}}});
    ASSERT_TRUE(shapes.has_value()) << shapes.error().message;
    const auto names = net->arguments();
    EXPECT_THAT(names, testing::Contains(argument));
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < names.size(); ++i)
      sum += names[i] == "data" || names[i] == "softmax_label" ? 0 : shapes->arguments[i].elements();
    for (const Shape& state : shapes->auxiliary_states) sum += state.elements();
    EXPECT_EQ(sum, parameters);
  }
}

// The ResNet paper's networks for CIFAR-10, whose section 4.2 has 0.27 million parameters for 20 layers and 1.7 for 110; here with
// the projections and normalisations of v2.
TEST(Models, SmallResnetsHaveTheParametersOfTheirLayers) {
  for (const auto& [name, units] :
       {std::pair{"resnet-8", 1}, {"resnet-14", 2}, {"resnet-20", 3}, {"resnet-110", 18}}) {
    SCOPED_TRACE(name);
    const auto net = models::make(name, 10);
    ASSERT_TRUE(net.has_value()) << net.error().message;
    const auto shapes = net->inferShapes({{"data", {1, 3, 28, 28}}});
    ASSERT_TRUE(shapes.has_value()) << shapes.error().message;
    const auto names = net->arguments();
    std::int64_t convolved = 0;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i].ends_with("_weight") && names[i] != "fc1_weight")
        convolved += shapes->arguments[i].elements();
    std::int64_t expected = 3 * 16 * 9, before = 16;
    for (const std::int64_t channels : {16, 32, 64}) {
      expected += before * channels * 10 + channels * channels * 9;  // the first unit, with its projection
      expected += std::int64_t{units - 1} * 2 * channels * channels * 9;
      before = channels;
    }
    EXPECT_EQ(convolved, expected);
  }
}

// The paper's multiplications and additions of one image, in millions.
TEST(Models, MobilenetsHaveTheProductsOfTheirPaper) {
  for (const auto& [name, million] :
       {std::pair{"mobilenet1.0", 569}, {"mobilenet0.75", 325}, {"mobilenet0.5", 149}, {"mobilenet0.25", 41}})
    EXPECT_EQ(std::lround(static_cast<double>(productsOf(name)) / 1e6), million) << name;
}

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
