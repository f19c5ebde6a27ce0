// The kernels of nodes: those that backends prepare for the shapes that were inferred have the same shapes.
#include <gmock/gmock.h>

#include "runtime/backend.h"
#include "runtime/graph/infer_shapes.h"
#include "runtime/models.h"
#include "runtime/operators.h"

namespace pitwall::graph::lower_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Every kernel of the graph, prepared by the null backend, which checks and infers shapes as all do.
Status checkKernels(const Symbol& net, const std::map<std::string, Shape>& known, bool training) {
  const auto backend = openBackend("null", Settings());
  if (!backend.has_value()) return fail(backend.error());
  const IndexedGraph graph(net.outputs());
  const auto entries = inferEntries(graph, known);
  if (!entries.has_value()) return fail(entries.error());
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = *graph.nodes[id];
    if (node.isVariable()) continue;
    const NodeShapes shapes = shapesOf(graph, *entries, static_cast<int>(id));
    const auto lowered = lowerNode(node, shapes, training);
    if (!lowered.has_value()) return fail(lowered.error());
    if (lowered->kind == Lowered::Kind::view) {
      EXPECT_EQ(shapes.inputs[0]->elements(), shapes.outputs[0]->elements()) << node.name;
      continue;
    }
    std::vector<TensorSpec> inputs;
    for (const int i : lowered->inputs) inputs.push_back({*shapes.inputs[static_cast<std::size_t>(i)]});
    const auto kernel =
        (*backend)->prepare(lowered->desc, training ? Pass::forward : Pass::inference, inputs);
    if (!kernel.has_value()) return fail(kernel.error());
    std::vector<Shape> expected;
    for (const int i : lowered->outputs) expected.push_back(*shapes.outputs[static_cast<std::size_t>(i)]);
    for (const int i : lowered->updates) expected.push_back(*shapes.inputs[static_cast<std::size_t>(i)]);
    std::vector<Shape> written;
    for (const TensorSpec& spec : (*kernel)->outputs()) written.push_back(spec.shape);
    if (lowered->has_workspace) {
      EXPECT_GT(written.size(), expected.size()) << node.name;
      written.resize(expected.size());
    }
    EXPECT_EQ(written, expected) << node.name;
  }
  return {};
}

std::string messageFor(const char* op, Attributes attributes, const Shape& data, bool training = false) {
  const auto symbol = Symbol::make(op, "x", {Symbol::variable("data")}, std::move(attributes));
  if (!symbol.has_value()) return symbol.error().message;
  const Status done = checkKernels(*symbol, {{"data", data}}, training);
  return done.has_value() ? "" : done.error().message;
}

class LoweredNetworks : public testing::TestWithParam<bool> {};

TEST_P(LoweredNetworks, HaveAKernelForEachNode) {
  for (const models::Model& model : models::all()) {
    SCOPED_TRACE(model.name);
    const Status done = checkKernels(*models::make(model.name),
                                     {{"data", {2, 3, model.image_size, model.image_size}}}, GetParam());
    EXPECT_TRUE(done.has_value()) << done.error().message;
  }
}

// What MXNet's model zoo needs besides.
TEST_P(LoweredNetworks, HaveTheOtherKernelsOfTheModelZoo) {
  const Shape images{2, 4, 7, 9};
  const auto works = [&](const char* op, Attributes attributes) {
    EXPECT_EQ(messageFor(op, std::move(attributes), images, GetParam()), "") << op;
  };
  works("Pooling", {{"kernel", "(3, 3)"}, {"stride", "(2, 2)"}, {"pooling_convention", "full"}});
  works("Pooling", {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"pool_type", "avg"}});
  works("Pooling", {{"global_pool", "True"}, {"pool_type", "avg"}});
  works("Convolution", {{"kernel", "(3, 3)"}, {"num_filter", "4"}, {"num_group", "4"}, {"no_bias", "True"}});
  works("BatchNorm", {{"use_global_stats", "True"}, {"fix_gamma", "False"}});
  works("FullyConnected", {{"num_hidden", "5"}, {"flatten", "False"}});
  works("clip", {{"a_min", "0"}, {"a_max", "6"}});
  works("softmax", {{"axis", "1"}});
  works("SoftmaxOutput", {{"multi_output", "True"}, {"normalization", "valid"}});
  works("_mul_scalar", {{"scalar", "0.5"}});
  works("LRN", {{"nsize", "5"}});
  works("Pooling", {{"kernel", "(3, 3)"}, {"pool_type", "sum"}});
  works("Pooling", {{"kernel", "(3, 3)"}, {"pool_type", "lp"}, {"p_value", "2"}});
}

// Windows along one axis.
TEST_P(LoweredNetworks, HaveTheKernelsOfSequences) {
  const auto works = [&](const char* op, Attributes attributes) {
    EXPECT_EQ(messageFor(op, std::move(attributes), {2, 4, 9}, GetParam()), "") << op;
  };
  works("Convolution", {{"kernel", "(3,)"}, {"num_filter", "6"}, {"stride", "(2,)"}, {"num_group", "2"}});
  works("Pooling", {{"kernel", "(3,)"}, {"pool_type", "max"}, {"pad", "(1,)"}});
  works("Pooling", {{"global_pool", "True"}, {"pool_type", "avg"}});
  works("BatchNorm", {{"fix_gamma", "False"}});
}

// What language models need.
TEST_P(LoweredNetworks, HaveTheOtherKernels) {
  const auto works = [&](const char* op, Attributes attributes, const Shape& data) {
    EXPECT_EQ(messageFor(op, std::move(attributes), data, GetParam()), "") << op;
  };
  works("Embedding", {{"input_dim", "9"}, {"output_dim", "5"}}, {3, 2});
  for (const char* mode : {"lstm", "gru", "rnn_tanh", "rnn_relu"}) {
    for (const char* states : {"True", "False"})
      works("RNN",
            {{"mode", mode},
             {"state_size", "4"},
             {"num_layers", "2"},
             {"bidirectional", "1"},
             {"state_outputs", states}},
            {5, 2, 3});
  }
  works("RNN", {{"mode", "gru"}, {"state_size", "4"}, {"num_layers", "2"}, {"p", "0.3"}}, {5, 2, 3});
  works("LayerNorm", {}, {2, 3, 4});
  works("log_softmax", {{"axis", "1"}}, {2, 3, 4});
  works("_rdiv_scalar", {{"scalar", "2"}}, {2, 3, 4});
  works("SliceChannel", {{"num_outputs", "3"}}, {2, 3, 4});
  works("SliceChannel", {{"num_outputs", "4"}, {"axis", "-1"}, {"squeeze_axis", "True"}}, {2, 3, 4});
  works("Deconvolution",
        {{"kernel", "(3, 2)"},
         {"num_filter", "4"},
         {"stride", "(2, 2)"},
         {"adj", "(1, 0)"},
         {"num_group", "2"}},
        {1, 4, 5, 6});
  works("Deconvolution",
        {{"kernel", "(4, 4)"}, {"num_filter", "4"}, {"stride", "(2, 2)"}, {"target_shape", "(9, 10)"}},
        {1, 4, 5, 5});
  works("transpose", {{"axes", "(1, 2, 0)"}}, {2, 3, 4});
  works("transpose", {}, {2, 3, 4});
  works("SwapAxis", {{"dim1", "0"}, {"dim2", "-1"}}, {2, 3, 4});
  works("slice_axis", {{"axis", "-1"}, {"begin", "-3"}, {"end", "None"}}, {2, 3, 4});
  for (const char* op : {"sum", "mean", "max", "min"}) {
    works(op, {{"axis", "(0, 2)"}}, {2, 3, 4});
    works(op, {{"axis", "1"}, {"exclude", "True"}, {"keepdims", "True"}}, {2, 3, 4});
    works(op, {}, {2, 3, 4});
  }
}

TEST_P(LoweredNetworks, HaveTheProductsOfTwo) {
  const Symbol a = Symbol::variable("a"), b = Symbol::variable("b");
  const auto works = [&](const char* op, Attributes attributes, const Shape& left, const Shape& right) {
    const Status done = checkKernels(*Symbol::make(op, "x", {a, b}, std::move(attributes)),
                                     {{"a", left}, {"b", right}}, GetParam());
    EXPECT_TRUE(done.has_value()) << done.error().message;
  };
  works("dot", {}, {2, 3, 4}, {4, 5});
  works("dot", {{"transpose_a", "True"}, {"transpose_b", "True"}}, {4, 2}, {5, 4});
  works("dot", {}, {4}, {4});
  works("batch_dot", {{"transpose_b", "True"}}, {7, 2, 3}, {7, 5, 3});
  works("take", {{"axis", "1"}, {"mode", "wrap"}}, {2, 9, 4}, {5, 6});
  works("broadcast_maximum", {}, {2, 3, 4}, {3, 1});
}

INSTANTIATE_TEST_SUITE_P(Passes, LoweredNetworks, testing::Bool(),
                         [](const auto& about) { return about.param ? "training" : "inference"; });

Lowered loweredOf(const Symbol& symbol, const std::map<std::string, Shape>& known, bool training = false) {
  const IndexedGraph graph(symbol.outputs());
  const auto entries = inferEntries(graph, known);
  EXPECT_TRUE(entries.has_value()) << entries.error().message;
  const int id = static_cast<int>(graph.nodes.size()) - 1;
  auto lowered = lowerNode(*graph.nodes.back(), shapesOf(graph, *entries, id), training);
  EXPECT_TRUE(lowered.has_value()) << lowered.error().message;
  return *lowered;
}

Lowered loweredOn(const char* op, Attributes attributes, const Shape& data, bool training = false) {
  return loweredOf(*Symbol::make(op, "x", {Symbol::variable("data")}, std::move(attributes)),
                   {{"data", data}}, training);
}

TEST(LoweredNodes, HaveTheirAttributes) {
  const Lowered conv = loweredOn("Convolution",
                                 {{"kernel", "(3, 5)"},
                                  {"num_filter", "8"},
                                  {"stride", "(2, 1)"},
                                  {"pad", "(1, 2)"},
                                  {"dilate", "(2, 2)"},
                                  {"num_group", "4"},
                                  {"no_bias", "True"}},
                                 {1, 4, 20, 20});
  ConvolutionDesc expected;
  expected.kernel = {3, 5};
  expected.stride = {2, 1};
  expected.pad = {1, 2};
  expected.dilate = {2, 2};
  expected.channels = 8;
  expected.groups = 4;
  expected.bias = false;
  EXPECT_EQ(conv.desc.as<ConvolutionDesc>(), expected);
  EXPECT_THAT(conv.inputs, ElementsAre(0, 1));
  const auto pool = loweredOn("Pooling",
                              {{"kernel", "(3, 2)"},
                               {"pool_type", "avg"},
                               {"count_include_pad", "False"},
                               {"pooling_convention", "full"}},
                              {1, 1, 4, 4})
                        .desc.as<PoolingDesc>();
  EXPECT_EQ(pool.kernel, (std::array<std::int64_t, 2>{3, 2}));
  EXPECT_EQ(pool.stride, (std::array<std::int64_t, 2>{1, 1})) << "MXNet's standard";
  EXPECT_EQ(pool.type, PoolingType::average);
  EXPECT_EQ(pool.convention, PoolingConvention::full);
  EXPECT_FALSE(pool.count_padding);
  const auto norm =
      loweredOn("BatchNorm", {{"eps", "2e-05"}, {"momentum", "0.5"}}, {1, 2, 4, 4}).desc.as<BatchNormDesc>();
  EXPECT_FLOAT_EQ(norm.epsilon, 2e-5F);
  EXPECT_FLOAT_EQ(norm.momentum, 0.5F);
  EXPECT_TRUE(norm.fix_gamma) << "MXNet's standard";
  const auto loss =
      loweredOn(
          "SoftmaxOutput",
          {{"grad_scale", "0.5"}, {"use_ignore", "True"}, {"ignore_label", "7"}, {"normalization", "batch"}},
          {2, 3})
          .desc.as<SoftmaxOutputDesc>();
  EXPECT_EQ(loss.grad_scale, 0.5F);
  EXPECT_TRUE(loss.use_ignore);
  EXPECT_EQ(loss.ignore_label, 7);
  EXPECT_EQ(loss.normalization, SoftmaxNormalization::batch);
  EXPECT_TRUE(loweredOn("log_softmax", {}, {2, 3}).desc.as<SoftmaxDesc>().logarithm);
  EXPECT_EQ(loweredOn("_rdiv_scalar", {{"scalar", "3"}}, {2}).desc.as<ReciprocalDesc>().scalar, 3);
  const Lowered parts = loweredOn("SliceChannel", {{"num_outputs", "3"}, {"axis", "-2"}}, {2, 3, 4});
  EXPECT_EQ(parts.desc.as<SliceChannelDesc>(), (SliceChannelDesc{.axis = 1, .outputs = 3}));
  EXPECT_THAT(parts.outputs, ElementsAre(0, 1, 2));
  EXPECT_EQ(loweredOn("_rminus_scalar", {{"scalar", "3"}}, {2}).desc.as<LinearDesc>(), (LinearDesc{-1, 3}));
}

TEST(LoweredNodes, StatesAreReadInInferenceAndUpdatedInTraining) {
  const Lowered inference = loweredOn("BatchNorm", {}, {2, 3, 4, 4});
  EXPECT_THAT(inference.inputs, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(inference.outputs, ElementsAre(0));
  const Lowered training = loweredOn("BatchNorm", {}, {2, 3, 4, 4}, true);
  EXPECT_THAT(training.inputs, ElementsAre(0, 1, 2));
  EXPECT_THAT(training.outputs, ElementsAre(0, 1, 2));
  EXPECT_THAT(training.updates, ElementsAre(3, 4));
}

TEST(LoweredNodes, DropoutIsAViewOutsideOfTraining) {
  EXPECT_EQ(loweredOn("Dropout", {{"p", "0.3"}}, {2, 3}).kind, Lowered::Kind::view);
  EXPECT_EQ(loweredOn("Dropout", {{"p", "0"}}, {2, 3}, true).kind, Lowered::Kind::view);
  EXPECT_EQ(loweredOn("Dropout", {{"p", "0.3"}, {"mode", "always"}}, {2, 3}).desc.as<DropoutDesc>(),
            DropoutDesc{0.3F});
}

TEST(LoweredNodes, WhatHasNoKernelIsNamed) {
  EXPECT_EQ(messageFor("Activation", {{"act_type", "softsign"}}, {2, 3}),
            "x (Activation): there is no kernel for act_type=softsign");
  EXPECT_EQ(messageFor("Convolution", {{"kernel", "(3, 3, 3)"}, {"num_filter", "2"}}, {2, 3, 9, 9, 9}),
            "x (Convolution): there is no kernel for a convolution of 3 axes");
  EXPECT_THAT(messageFor("Pooling", {{"kernel", "(2, 2)"}, {"pool_type", "lp"}}, {2, 3, 9, 9}),
              HasSubstr("pool_type=lp needs p_value: 1, 2 or 3"));
  EXPECT_THAT(
      messageFor("Pooling", {{"kernel", "(2, 2)"}, {"pool_type", "lp"}, {"p_value", "4"}}, {2, 3, 9, 9}),
      HasSubstr("p_value=4"));
  EXPECT_THAT(
      messageFor("RNN", {{"mode", "gru"}, {"state_size", "4"}, {"num_layers", "2"}, {"p", "1"}}, {5, 2, 3}),
      HasSubstr("p=1 must be at least 0 and less than 1"));
}

}  // namespace
}  // namespace pitwall::graph::lower_test
