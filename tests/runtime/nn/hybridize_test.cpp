// Networks that run as a graph: the results and gradients of their layers, memory, shapes, and what the trace shows.
#include <filesystem>
#include <functional>
#include <set>

#include "db/reader.h"
#include "tests/runtime/nn/nn_support.h"
#include "tests/support/temp_folder.h"

namespace pitwall::test::hybridize_test {
namespace {

using Floats = std::vector<float>;

nn::Sequential network() {
  nn::Sequential net;
  net.add(nn::Conv2D("conv1", {.channels = 6, .kernel = {5, 5}}));
  net.add(nn::BatchNorm("norm1"))
      .add(nn::Activation("relu1", ActivationType::relu))
      .add(nn::MaxPool2D("pool1"));
  net.add(
      nn::Conv2D("conv2", {.channels = 8, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}, .groups = 2}));
  net.add(nn::Activation("tanh2", ActivationType::tanh)).add(nn::LRN("lrn2")).add(nn::AvgPool2D("pool2"));
  nn::Sequential head("head");
  head.add(nn::Flatten("flatten")).add(nn::Dropout("dropout", 0)).add(nn::Dense("dense1", {.units = 10}));
  net.add(std::move(head));
  return net;
}

void expectClose(const Floats& a, const Floats& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 2e-4F * (1 + std::abs(b[i]))) << what << ", element " << i;
}

// How a network runs.
using Way = std::function<void(nn::Sequential&)>;
void asLayers(nn::Sequential&) {}
void asGraph(nn::Sequential& net) { must(net.hybridize()); }
void asStaticGraph(nn::Sequential& net) { must(net.hybridize({.static_alloc = true, .static_shape = true})); }

// Everything that some steps of training leave: parameters, gradients, the loss, and scores without training.
std::map<std::string, Floats> trained(const std::string& backend, const Way& way) {
  const auto session = openSession(backend, {{"PITWALL_MEASURE_KERNELS", "0"}});
  nn::Sequential net = network();
  must(net.initialise(Initialiser::xavier(), 3));
  way(net);
  nn::SoftmaxCrossEntropy loss_function;
  Sgd optimizer(net.parameters(), {.rate = 0.05F, .momentum = 0.9F});
  std::map<std::string, Floats> left;
  for (const std::int64_t images : {4, 4, 3, 4}) {
    const NDArray data = arrayOf(*session, {images, 1, 20, 20}, static_cast<std::uint32_t>(images));
    const NDArray labels =
        NDArray::fromValues(*session, {images}, Floats(static_cast<std::size_t>(images), 7));
    const NDArray loss = must(autograd::record(
        [&]() -> Result<NDArray> { return loss_function.forward(must(net.forward(data)), labels); }));
    must(autograd::backward(loss));
    must(optimizer.step(images));
    left["loss"] = must(loss.toVector());
    left["scores"] = must(must(net.forward(data)).toVector());
  }
  for (const auto& parameter : net.parameters()) {
    left[parameter->name] = must(parameter->value.toVector());
    if (parameter->trained)
      left[parameter->name + " gradient"] = must(parameter->value.gradient().toVector());
  }
  return left;
}

TEST(Hybridize, TrainsAsTheLayersDo) {
  for (const std::string& backend : computingBackends()) {
    const auto expected = trained(backend, asLayers);
    for (const Way& way : {Way(asGraph), Way(asStaticGraph)}) {
      const auto left = trained(backend, way);
      ASSERT_EQ(left.size(), expected.size());
      for (const auto& [name, values] : expected) expectClose(left.at(name), values, backend + " " + name);
    }
  }
}

TEST(Hybridize, CallsBeforeABackwardPassKeepWhatItNeeds) {
  const auto gradients = [](const Way& way) {
    const auto session = openSession("onednn", {{"PITWALL_MEASURE_KERNELS", "0"}});
    nn::Sequential net = network();
    way(net);
    const NDArray a = arrayOf(*session, {2, 1, 20, 20}, 1), b = arrayOf(*session, {2, 1, 20, 20}, 2);
    // The parameters get the gradients of both calls in one pass.
    const NDArray sum = must(autograd::record([&]() -> Result<NDArray> {
      const NDArray first = must(net.forward(a)), second = must(net.forward(b));
      return op::add(must(op::multiply(first, first)), second);
    }));
    must(autograd::backward(sum));
    std::vector<Floats> values{must(sum.toVector())};
    for (const auto& parameter : net.parameters())
      if (parameter->trained) values.push_back(must(parameter->value.gradient().toVector()));
    return values;
  };
  const auto expected = gradients(asLayers), found = gradients(asStaticGraph);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) expectClose(found[i], expected[i], std::to_string(i));
}

TEST(Hybridize, GradientsFlowToTheData) {
  const auto gradients = [](const Way& way) {
    const auto session = openSession("onednn", {{"PITWALL_MEASURE_KERNELS", "0"}});
    nn::Dense before("before", {.units = 400});
    nn::Sequential net = network();
    way(net);
    NDArray data = arrayOf(*session, {2, 5}, 1);
    data.attachGradient();
    const NDArray result = must(autograd::record([&]() -> Result<NDArray> {
      return net.forward(must(op::reshape(must(before.forward(data)), {2, 1, 20, 20})));
    }));
    must(autograd::backward(result));
    return std::pair(must(data.gradient().toVector()),
                     must(before.parameters()[0]->value.gradient().toVector()));
  };
  const auto expected = gradients(asLayers), found = gradients(asGraph);
  expectClose(found.first, expected.first, "data");
  expectClose(found.second, expected.second, "weight before");
}

TEST(Hybridize, ResultsThatAreHeldStay) {
  const auto session = openSession("onednn", {{"PITWALL_MEASURE_KERNELS", "0"}});
  nn::Sequential net = network();
  must(net.hybridize({.static_alloc = true}));
  const NDArray first = must(net.forward(arrayOf(*session, {2, 1, 20, 20}, 1)));
  const Floats before = must(first.toVector());
  const NDArray second = must(net.forward(arrayOf(*session, {2, 1, 20, 20}, 2)));
  EXPECT_NE(must(second.toVector()), before);
  EXPECT_EQ(must(first.toVector()), before);
}

// What is allocated between calls: the intermediate results only with static_alloc.
TEST(Hybridize, StaticMemoryStaysOtherMemoryGoesBack) {
  const auto liveBytes = [](bool static_alloc) {
    const auto session = openSession("onednn", {{"PITWALL_MEASURE_KERNELS", "0"}});
    nn::Sequential net = network();
    must(net.hybridize({.static_alloc = static_alloc}));
    const NDArray data = arrayOf(*session, {8, 1, 20, 20}, 1);
    Bytes live = 0;
    for (int i = 0; i < 3; ++i) {
      must(must(net.forward(data)).waitToRead());
      must(session->engine().waitForAll());
      live = must(session->storage(cpu(0)))->total().live_bytes;
    }
    return live;
  };
  const Bytes kept = liveBytes(true), given_back = liveBytes(false);
  EXPECT_GT(kept - given_back, 8 * 6 * 16 * 16 * 4 / 2) << kept << " and " << given_back;
}

TEST(Hybridize, MistakesAreNamed) {
  class Custom final : public nn::Layer {
   public:
    Custom() : Layer("mine") {}
    Result<NDArray> forward(const NDArray& data) override { return data; }
  };
  const auto session = openSession();
  nn::Sequential net;
  net.add(Custom());
  const auto half = net.hybridize({.static_shape = true});
  ASSERT_FALSE(half.has_value());
  EXPECT_NE(half.error().message.find("static_shape needs static_alloc"), std::string::npos);
  must(net.hybridize());
  const NDArray data = arrayOf(*session, {2, 3}, 1);
  const auto called = net.forward(data);
  ASSERT_FALSE(called.has_value());
  EXPECT_NE(called.error().message.find("mine: the layer cannot be part of a graph"), std::string::npos)
      << called.error().message;
  must(net.hybridize({.active = false}));
  EXPECT_TRUE(net.forward(data).has_value());

  nn::Sequential images = network();
  must(images.hybridize());
  const auto flat = images.forward(data);
  ASSERT_FALSE(flat.has_value());
  EXPECT_NE(flat.error().message.find("conv1"), std::string::npos) << flat.error().message;
}

TEST(Hybridize, TheTraceHasLayersPhasesAndBulkSegments) {
  const TempFolder folder;
  for (const char* bulk : {"1", "0"}) {
    const std::string path = folder / (std::string("x") + bulk + ".pitwall");
    {
      auto session = must(Session::open(
          {.trace_path = path,
           .backend = "onednn",
           .settings = {{"MXNET_EXEC_BULK_EXEC_TRAIN", bulk}, {"MXNET_EXEC_BULK_EXEC_INFERENCE", bulk}}}));
      nn::Sequential net = network();
      must(net.hybridize({.static_alloc = true}));
      const NDArray data = arrayOf(*session, {2, 1, 20, 20}, 1);
      must(autograd::backward(must(autograd::record([&] { return net.forward(data); }))));
      must(must(net.forward(data)).waitToRead());
      must(session->finish());
    }
    const auto trace = must(Trace::open(path));
    const auto rows = must(trace->query(
        "SELECT sum(layer = 'conv2' AND phase = 'backward') > 0, sum(layer = 'conv1+norm1+relu1'),"
        " sum(layer = 'dense1' AND name = 'FullyConnected'), sum(kind = 'bulk') > 0 FROM event"));
    EXPECT_EQ(rows.rows[0][0], SqlValue{std::int64_t{1}});
    EXPECT_EQ(rows.rows[0][1], SqlValue{std::int64_t{1}}) << "fused, once in inference";
    EXPECT_EQ(rows.rows[0][2], SqlValue{std::int64_t{2}});
    EXPECT_EQ(rows.rows[0][3], SqlValue{std::int64_t{bulk[0] - '0'}});
  }
}

}  // namespace
}  // namespace pitwall::test::hybridize_test
