// Training on several devices: the weights of one device, wherever they are updated.
#include "runtime/trainer.h"

#include "tests/runtime/nn/nn_support.h"

namespace pitwall::test::trainer_test {
namespace {

using Floats = std::vector<float>;
using Weights = std::vector<Floats>;

struct Job {
  std::size_t devices = 1;
  TrainerOptions options = {.optimizer = {"sgd", {{"learning_rate", 0.1F}, {"momentum", 0.9F}}}};
  bool hybridize = false;
  SettingList settings = {};
  std::string backend = "reference";
};

void addLayers(nn::Sequential& net) {
  net.add(nn::Conv2D("conv1", {.channels = 4, .kernel = {3, 3}}));
  net.add(nn::Activation("relu1", ActivationType::relu)).add(nn::MaxPool2D("pool1"));
  net.add(nn::Dense("dense1", {.units = 3}));
}

data::Batch batchOf(std::int64_t items, std::uint32_t seed) {
  data::Batch batch;
  batch.items = items;
  batch.image_shape = {items, 2, 8, 8};
  batch.images = numbers(items * 128, seed);
  for (std::int64_t i = 0; i < items; ++i) batch.labels.push_back(static_cast<float>((i * 7 + seed) % 3));
  return batch;
}

std::vector<Device> devicesOf(std::size_t count) {
  std::vector<Device> devices;
  for (std::size_t i = 0; i < count; ++i) devices.push_back(cpu(static_cast<int>(i)));
  return devices;
}

// The weights of the last device after some steps.
Weights trained(const Job& job) {
  const auto session = openSession(job.backend, job.settings);
  std::vector<nn::Sequential> nets(job.devices);
  std::vector<std::vector<nn::ParameterPtr>> parameters;
  for (nn::Sequential& net : nets) {
    addLayers(net);
    must(net.initialise(Initialiser::xavier(), 3));
    if (job.hybridize) must(net.hybridize());
    parameters.push_back(net.parameters());
  }
  const auto trainer = must(Trainer::make(*session, parameters, job.options));
  const auto devices = devicesOf(job.devices);
  nn::SoftmaxCrossEntropy loss;
  for (std::uint32_t step = 0; step < 4; ++step) {
    const auto parts = must(splitBatch(*session, batchOf(14, step), devices));
    for (std::size_t d = 0; d < job.devices; ++d) {
      const NDArray result = must(autograd::record(
          [&] { return loss.forward(must(nets[d].forward(parts[d].images)), parts[d].labels); }));
      must(autograd::backward(result));
    }
    must(trainer->step(14));
  }
  Weights weights;
  for (const auto& parameter : parameters.back()) weights.push_back(must(parameter->value.toVector()));
  for (std::size_t i = 0; i < weights.size(); ++i)
    EXPECT_EQ(must(parameters[0][i]->value.toVector()), weights[i]) << "all devices have the same weights";
  return weights;
}

void expectSame(const Weights& a, const Weights& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size());
    for (std::size_t k = 0; k < a[i].size(); ++k) ASSERT_NEAR(a[i][k], b[i][k], 1e-5) << i << ' ' << k;
  }
}

TEST(Trainer, WeightsAreThoseOfOneDevice) {
  const Weights alone = trained({});
  for (const char* store : {"local", "device"})
    for (const bool on_store : {false, true})
      for (const std::size_t devices : {2U, 4U}) {
        Job job{.devices = devices};
        job.options.kvstore = store;
        job.options.update_on_kvstore = on_store;
        SCOPED_TRACE(std::string(store) + (on_store ? " updates" : " sums") + std::to_string(devices));
        expectSame(trained(job), alone);
      }
}

TEST(Trainer, WeightsAreThoseOfOneDeviceWithOtherSettings) {
  const Weights alone = trained({});
  for (const SettingList& settings :
       {SettingList{{"MXNET_KVSTORE_USETREE", "1"}}, SettingList{{"MXNET_ENGINE_TYPE", "NaiveEngine"}},
        SettingList{{"MXNET_CPU_WORKER_NTHREADS", "3"}}})
    expectSame(trained({.devices = 3, .settings = settings}), alone);
}

TEST(Trainer, WeightsAreThoseOfOneDeviceWithLayoutsOfOneDnn) {
  for (const bool hybridize : {false, true}) {
    const Weights alone = trained({.hybridize = hybridize, .backend = "onednn"});
    for (const bool on_store : {false, true}) {
      Job job{.devices = 3, .hybridize = hybridize, .backend = "onednn"};
      job.options.update_on_kvstore = on_store;
      expectSame(trained(job), alone);
    }
  }
}

TEST(Trainer, AdamOnTheStoreIsThatOfOneDevice) {
  Job job{.devices = 2};
  job.options.optimizer = {"adam", {{"learning_rate", 0.01F}}};
  Job alone = job;
  alone.devices = 1;
  expectSame(trained(job), trained(alone));
}

TEST(Trainer, UpdatesWhereMxnetDoes) {
  struct Row {
    TrainingFacts facts;
    bool store, on_store;
  };
  const std::int64_t limit = 16 * 1024 * 1024;
  const Row rows[] = {
      {{.kvstore = "device", .devices = 1}, false, false},
      {{.kvstore = "device", .devices = 1, .asked = true}, false, false},
      {{.kvstore = "dist_sync", .devices = 1}, true, true},
      {{.kvstore = "device", .devices = 2}, true, true},
      {{.kvstore = "device", .devices = 2, .by_default = false}, true, false},
      {{.kvstore = "device", .devices = 2, .by_default = false, .asked = true}, true, true},
      {{.kvstore = "device", .devices = 2, .asked = false}, true, false},
      {{.kvstore = "local", .devices = 2, .largest_parameter = limit}, true, true},
      {{.kvstore = "local", .devices = 2, .largest_parameter = limit + 1}, true, false},
      {{.kvstore = "device", .devices = 2, .largest_parameter = limit + 1}, true, true},
      {{.kvstore = "horovod", .devices = 1, .store_can_optimize = false}, true, false},
      {{.kvstore = "dist_async", .devices = 1, .by_default = false}, true, true},
  };
  for (const Row& row : rows) {
    const TrainingPlan plan = must(planTraining(row.facts));
    EXPECT_EQ(plan.uses_store, row.store) << &row - rows;
    EXPECT_EQ(plan.updates_on_store, row.on_store) << &row - rows;
  }
  const auto async = planTraining({.kvstore = "dist_async", .asked = false});
  ASSERT_FALSE(async.has_value());
  EXPECT_NE(async.error().message.find("update_on_kvstore must be true"), std::string::npos);
  EXPECT_FALSE(planTraining({.kvstore = "horovod", .store_can_optimize = false, .asked = true}).has_value());
}

TEST(Trainer, TheSettingDecidesWhereWeightsAreUpdated) {
  for (const char* value : {"0", "1"}) {
    const auto session = openSession("reference", {{"MXNET_UPDATE_ON_KVSTORE", value}});
    std::vector<std::vector<nn::ParameterPtr>> parameters(2);
    for (int device = 0; device < 2; ++device) {
      auto parameter = std::make_shared<nn::Parameter>();
      parameter->name = "w";
      parameter->value = NDArray::zeros(*session, {3}, MemoryTag::weights, cpu(device));
      parameter->value.attachGradient();
      parameters[static_cast<std::size_t>(device)].push_back(parameter);
    }
    const auto trainer = must(Trainer::make(*session, parameters, {}));
    must(trainer->step(1));
    EXPECT_EQ(trainer->updatesOnStore(), value == std::string("1"));
    must(session->finish());
  }
}

TEST(Trainer, WeightsOfTheFirstDeviceAreShared) {
  const auto session = openSession();
  std::vector<std::vector<nn::ParameterPtr>> parameters(2);
  for (int device = 0; device < 2; ++device) {
    auto parameter = std::make_shared<nn::Parameter>();
    parameter->name = "w";
    parameter->value = NDArray::fromValues(*session, {1}, Floats{static_cast<float>(device + 1)},
                                           MemoryTag::weights, cpu(device));
    parameter->value.attachGradient();
    parameters[static_cast<std::size_t>(device)].push_back(parameter);
  }
  const auto trainer = must(Trainer::make(*session, parameters, {}));
  must(trainer->shareWeights());
  EXPECT_EQ(must(parameters[1][0]->value.toVector()), Floats{1});
  parameters[1].push_back(parameters[1][0]);
  const auto wrong = Trainer::make(*session, parameters, {});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_NE(wrong.error().message.find("give copies of one network"), std::string::npos);
}

TEST(SplitBatch, PartsAreEqualAndInOrder) {
  const auto session = openSession();
  const data::Batch batch = batchOf(7, 1);
  const auto parts = must(splitBatch(*session, batch, devicesOf(3)));
  ASSERT_EQ(parts.size(), 3U);
  Floats images, labels;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(parts[i].items, i == 2 ? 3 : 2);
    EXPECT_EQ(parts[i].images.device(), cpu(static_cast<int>(i)));
    const Floats image = must(parts[i].images.toVector()), label = must(parts[i].labels.toVector());
    images.insert(images.end(), image.begin(), image.end());
    labels.insert(labels.end(), label.begin(), label.end());
  }
  EXPECT_EQ(images, batch.images);
  EXPECT_EQ(labels, batch.labels);
  const auto few = splitBatch(*session, batchOf(2, 1), devicesOf(3));
  ASSERT_FALSE(few.has_value());
  EXPECT_EQ(few.error().message, "splitBatch: 2 items for 3 devices; each needs one");
}

}  // namespace
}  // namespace pitwall::test::trainer_test
