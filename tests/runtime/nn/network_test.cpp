// Layers and networks: shapes found at the first forward(), the same result on every engine, and learning.
#include "runtime/data.h"
#include "runtime/metrics.h"
#include "tests/runtime/nn/nn_support.h"

namespace pitwall::test::network_test {
namespace {

nn::Sequential smallNet() {
  nn::Sequential net;
  net.add(nn::Conv2D("conv1", {.channels = 6, .kernel = {5, 5}}));
  net.add(nn::BatchNorm("norm1"))
      .add(nn::Activation("relu1", ActivationType::relu))
      .add(nn::MaxPool2D("pool1"));
  net.add(nn::Conv2D("conv2", {.channels = 8, .kernel = {3, 3}, .pad = {1, 1}}));
  net.add(nn::Activation("tanh2", ActivationType::tanh)).add(nn::AvgPool2D("pool2"));
  net.add(nn::Flatten("flatten")).add(nn::Dropout("dropout", 0.2F)).add(nn::Dense("dense1", {.units = 10}));
  return net;
}

TEST(Layers, FindTheirShapesAtTheFirstForward) {
  const auto session = openSession();
  nn::Sequential net = smallNet();
  for (const auto& parameter : net.parameters()) EXPECT_FALSE(parameter->value) << parameter->name;
  const NDArray scores = must(net.forward(arrayOf(*session, {3, 1, 28, 28}, 1)));
  EXPECT_EQ(scores.shape().toString(), "3x10");
  std::map<std::string, std::string> shapes;
  for (const auto& parameter : net.parameters())
    shapes[parameter->name] = parameter->value.shape().toString() + (parameter->trained ? "" : " untrained");
  EXPECT_EQ(shapes, (std::map<std::string, std::string>{{"conv1.weight", "6x1x5x5"},
                                                        {"conv1.bias", "6"},
                                                        {"norm1.gamma", "6"},
                                                        {"norm1.beta", "6"},
                                                        {"norm1.running_mean", "6 untrained"},
                                                        {"norm1.running_variance", "6 untrained"},
                                                        {"conv2.weight", "8x6x3x3"},
                                                        {"conv2.bias", "8"},
                                                        {"dense1.weight", "10x288"},
                                                        {"dense1.bias", "10"}}));
}

TEST(Layers, WrongDataNamesTheLayer) {
  const auto session = openSession();
  nn::Sequential net = smallNet();
  const auto flat = net.forward(arrayOf(*session, {3, 784}, 1));
  ASSERT_FALSE(flat.has_value());
  EXPECT_NE(flat.error().message.find("conv1: Convolution: data 3x784"), std::string::npos)
      << flat.error().message;
  must(net.forward(arrayOf(*session, {3, 1, 28, 28}, 1)));
  const auto other = net.forward(arrayOf(*session, {3, 1, 20, 20}, 1));
  ASSERT_FALSE(other.has_value());
  EXPECT_NE(other.error().message.find("dense1: FullyConnected"), std::string::npos) << other.error().message;
}

TEST(Layers, InitialiseIsSeeded) {
  const auto session = openSession();
  const NDArray data = arrayOf(*session, {2, 1, 28, 28}, 1);
  const auto scores = [&](std::uint64_t seed) {
    nn::Sequential net = smallNet();
    must(net.initialise(Initialiser::xavier(), seed));
    return must(must(net.forward(data)).toVector());
  };
  EXPECT_EQ(scores(1), scores(1));
  EXPECT_NE(scores(1), scores(2));
}

TEST(Layers, BatchNormLearnsRunningStatistics) {
  const auto session = openSession();
  nn::BatchNorm norm("norm", {.momentum = 0.5F});
  const NDArray data = NDArray::fromValues(*session, {2, 1}, std::vector<float>{1, 3});
  must(must(autograd::record([&] { return norm.forward(data); })).waitToRead());
  EXPECT_NEAR(must(norm.parameters()[2]->value.toVector())[0], 1.0F, 1e-6F);  // (0 + 2) / 2
}

// The loss after some steps and all parameters.
std::vector<float> train(const std::string& backend, const SettingList& settings, int steps = 3) {
  const auto session = openSession(backend, settings);
  nn::Sequential net = smallNet();
  nn::SoftmaxCrossEntropy loss_function;
  Sgd optimizer(net.parameters(), {.rate = 0.1F, .momentum = 0.9F, .weight_decay = 1e-4F});
  std::vector<float> all;
  for (int step = 0; step < steps; ++step) {
    const NDArray data = arrayOf(*session, {4, 1, 28, 28}, static_cast<std::uint32_t>(step + 1), 0, 1);
    const NDArray label = NDArray::fromValues(*session, {4}, std::vector<float>{0, 3, 9, 5});
    const NDArray loss =
        must(autograd::record([&] { return loss_function.forward(must(net.forward(data)), label); }));
    must(autograd::backward(loss));
    must(optimizer.step(4));
    if (step + 1 == steps) all = must(loss.toVector());
  }
  for (const auto& parameter : net.parameters())
    for (const float value : must(parameter->value.toVector())) all.push_back(value);
  return all;
}

TEST(Networks, SameResultOnEveryEngineAndWithEveryBulkSize) {
  const std::vector<float> expected = train("reference", {{"MXNET_ENGINE_TYPE", "NaiveEngine"}});
  const std::vector<SettingList> variants{
      {},
      {{"MXNET_ENGINE_TYPE", "ThreadedEngine"}},
      {{"MXNET_CPU_WORKER_NTHREADS", "4"}},
      {{"MXNET_EXEC_BULK_EXEC_TRAIN", "0"}},
      {{"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "2"}},
      {{"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", "40"}, {"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", "3"}},
      {{"MXNET_OPTIMIZER_AGGREGATION_SIZE", "1"}},
      {{"MXNET_OPTIMIZER_AGGREGATION_SIZE", "60"}},
  };
  for (const SettingList& settings : variants) {
    std::string text;
    for (const auto& [name, value] : settings) text += name + "=" + value + " ";
    EXPECT_EQ(train("reference", settings), expected) << text;
  }
}

TEST(Networks, BackendsAgree) {
  const std::vector<float> expected = train("reference", {});
  for (const std::string& backend : computingBackends()) {
    const std::vector<float> got = train(backend, {});
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i], 1e-3F) << backend << ", number " << i;
  }
}

// Trained on generated digits, a network classifies others of them.
double accuracyAfterTraining(Session& session, int steps) {
  const data::ImageDataset digits = data::syntheticDigits(2000, 1), others = data::syntheticDigits(400, 2);
  auto batches = must(data::makeBatches(session, digits, {.batch_size = 20}));
  auto test = must(data::makeBatches(session, others, {.batch_size = 100, .shuffle = false}));
  nn::Sequential net;
  net.add(nn::Conv2D("conv1", {.channels = 8, .kernel = {5, 5}}));
  net.add(nn::Activation("relu1", ActivationType::relu)).add(nn::MaxPool2D("pool1", {.kernel = {4, 4}}));
  net.add(nn::Dense("dense1", {.units = 10}));
  nn::SoftmaxCrossEntropy loss_function;
  Sgd optimizer(net.parameters(), {.rate = 0.1F, .momentum = 0.9F});
  data::Batch batch;
  for (int step = 0; step < steps; ++step) {
    if (!must(batches->next(batch))) {
      batches->reset();
      must(batches->next(batch));
    }
    const NDArray images = NDArray::fromValues(session, batch.image_shape, batch.images);
    const NDArray labels = NDArray::fromValues(session, {batch.items}, batch.labels);
    const NDArray loss =
        must(autograd::record([&] { return loss_function.forward(must(net.forward(images)), labels); }));
    must(autograd::backward(loss));
    must(optimizer.step(batch.items));
  }
  return must(nn::accuracy(session, net, *test));
}

TEST(Networks, LearnGeneratedDigits) {
  const auto session = openSession("");  // the best backend: reference would take long
  EXPECT_LT(accuracyAfterTraining(*session, 0), 0.4);
  EXPECT_GT(accuracyAfterTraining(*session, 400), 0.8);
}

TEST(Networks, NullBackendRunsTheWholeStep) { EXPECT_FALSE(train("null", {}).empty()); }

}  // namespace
}  // namespace pitwall::test::network_test
