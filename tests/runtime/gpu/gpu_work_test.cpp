// Streams, completion, memory and whole networks on GPUs that are threads of the host (fake_gpu.h), with delayed work.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <set>
#include <thread>

#include "runtime/executor.h"
#include "runtime/gpu/device_memory.h"
#include "runtime/gpu/work.h"
#include "tests/runtime/gpu/fake_gpu.h"
#include "tests/runtime/nn/nn_support.h"

namespace pitwall::test::gpu_work_test {
namespace {

using Floats = std::vector<float>;
using testing::HasSubstr;

struct Gpu : testing::TestWithParam<const char*> {
  std::shared_ptr<FakeGpuPlatform> gpus =
      std::make_shared<FakeGpuPlatform>(FakeGpuOptions{.devices = 2, .delay_us = 30});
  std::unique_ptr<Session> session = open({});

  std::unique_ptr<Session> open(SettingList settings) {
    settings.emplace_back("MXNET_ENGINE_TYPE", GetParam());
    auto opened = Session::open(
        {.trace_path = "", .backend = "reference", .settings = std::move(settings), .gpus = gpus});
    EXPECT_TRUE(opened.has_value());
    return std::move(opened).value();
  }
  NDArray onGpu(const Shape& shape, const Floats& values, int device = 0) {
    return NDArray::fromValues(*session, shape, values, MemoryTag::data, gpu(device));
  }
  static std::string errorOf(const Result<Floats>& result) {
    return result.has_value() ? "" : result.error().message;
  }
};

TEST_P(Gpu, ComputesAndCopies) {
  const NDArray x = onGpu({3}, {1, 2, 3});
  EXPECT_EQ(x.device(), gpu(0));
  const NDArray y = must(op::addScalar(must(op::multiplyScalar(x, 2)), 1));
  EXPECT_EQ(must(y.toVector()), (Floats{3, 5, 7}));
  EXPECT_EQ(must(must(y.copyTo(gpu(1))).toVector()), (Floats{3, 5, 7}));
  EXPECT_EQ(must(must(y.copyTo(pinned(0))).toVector()), (Floats{3, 5, 7}));
  EXPECT_EQ(must(NDArray::zeros(*session, {2}, MemoryTag::other, gpu(0)).toVector()), (Floats{0, 0}));
  NDArray written = onGpu({2}, {1, 2});
  const NDArray before = must(op::addScalar(written, 0));
  must(written.copyFrom(Floats{8, 9}));
  EXPECT_EQ(must(before.toVector()), (Floats{1, 2}));
  EXPECT_EQ(must(written.toVector()), (Floats{8, 9}));
}

// Chains over two devices and the host, whose every link must wait for the one before.
TEST_P(Gpu, ManyChainsKeepTheirOrder) {
  std::vector<NDArray> ends;
  for (int chain = 0; chain < 8; ++chain) {
    NDArray x = onGpu({64}, Floats(64, static_cast<float>(chain)));
    for (int i = 0; i < 10; ++i) {
      x = must(op::addScalar(x, 1));
      if (i % 4 == 3) x = must(x.copyTo(gpu(i % 8 == 3 ? 1 : 0)));
      if (i == 5) x = must(must(op::addScalar(must(x.copyTo(cpu(0))), 1)).copyTo(gpu(0)));
    }
    ends.push_back(x);
  }
  for (int chain = 0; chain < 8; ++chain)
    EXPECT_EQ(must(ends[static_cast<std::size_t>(chain)].toVector()),
              Floats(64, static_cast<float>(chain + 11)));
}

TEST_P(Gpu, BulkSegmentsCompleteTogether) {
  NDArray x = onGpu({16}, Floats(16, 1));
  {
    const BulkScope bulk(session->engine(), 5);
    for (int i = 0; i < 12; ++i) x = must(op::multiplyScalar(x, 2));
  }
  EXPECT_EQ(must(x.toVector()), Floats(16, 4096));
}

// Trained on the CPU and on the device: the same losses but for rounding.
TEST_P(Gpu, ANetworkTrains) {
  const auto train = [this](Device device) {
    nn::Sequential net;
    net.add(nn::Conv2D("conv1", {.channels = 4, .kernel = {3, 3}, .pad = {1, 1}}))
        .add(nn::BatchNorm("norm1"));
    net.add(nn::Activation("relu1", ActivationType::relu)).add(nn::MaxPool2D("pool1"));
    net.add(nn::Conv2D("conv2", {.channels = 6, .kernel = {3, 3}}))
        .add(nn::Activation("tanh2", ActivationType::tanh));
    net.add(nn::Flatten("flatten")).add(nn::Dropout("dropout", 0.2F)).add(nn::Dense("dense1", {.units = 5}));
    nn::SoftmaxCrossEntropy loss_function("loss");
    Sgd optimizer(net.parameters(), {.rate = 0.05F, .momentum = 0.9F, .weight_decay = 1e-4F});
    const NDArray data = must(arrayOf(*session, {6, 1, 8, 8}, 1).copyTo(device));
    const NDArray label =
        NDArray::fromValues(*session, {6}, Floats{0, 1, 2, 3, 4, 0}, MemoryTag::data, device);
    Floats losses;
    for (int i = 0; i < 5; ++i) {
      const NDArray loss =
          must(autograd::record([&] { return loss_function.forward(must(net.forward(data)), label); }));
      EXPECT_EQ(loss.device(), device);
      must(autograd::backward(loss));
      must(optimizer.step(6));
      const Floats values = must(loss.toVector());
      losses.insert(losses.end(), values.begin(), values.end());
    }
    return losses;
  };
  const Floats expected = train(cpu(0)), found = train(gpu(0));
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-4) << i;
}

TEST_P(Gpu, AProblemOfAKernelIsAnErrorOfTheWait) {
  const NDArray data = onGpu({2, 3}, {1, 2, 3, 4, 5, 6});
  const NDArray loss = must(op::softmaxCrossEntropy(data, onGpu({2}, {1, 7})));
  EXPECT_THAT(errorOf(loss.toVector()), HasSubstr("label of sample 1 is 7"));
  const NDArray fine = must(op::softmaxCrossEntropy(data, onGpu({2}, {1, 2})));
  EXPECT_TRUE(fine.toVector().has_value()) << "the next one is not affected";
  const NDArray taken = must(op::take(data, onGpu({1}, {5}), {.mode = TakeMode::raise}));
  EXPECT_THAT(errorOf(taken.toVector()), HasSubstr("take: index 0 is 5"));
}

TEST_P(Gpu, ADeviceThatIsNotThereIsNamed) {
  const auto copied = arrayOf(*session, {2}, 1).copyTo(gpu(2));
  ASSERT_FALSE(copied.has_value());
  EXPECT_THAT(copied.error().message, HasSubstr("device gpu(2): this machine has 2 GPUs"));
  EXPECT_EQ(session->storage(pinned(9)).error().code, ErrorCode::unsupported);
}

TEST_P(Gpu, WhatTheDeviceBreaksIsReportedAndNothingHangs) {
  const NDArray x = onGpu({4}, {1, 2, 3, 4});
  must(x.waitToRead());
  gpus->fake.breakWith("an illegal memory access was encountered");
  const NDArray y = must(op::addScalar(x, 1));
  const Status status = y.waitToRead();
  ASSERT_FALSE(status.has_value());
  EXPECT_THAT(status.error().message, HasSubstr("device gpu(0): an illegal memory access"));
  gpus->fake.breakWith("");
}

TEST_P(Gpu, AFullDeviceSaysWhoHoldsItsMemory) {
  gpus = std::make_shared<FakeGpuPlatform>(FakeGpuOptions{.memory = 1 << 20});
  session = open({{"MXNET_GPU_MEM_POOL_PAGE_SIZE", "256"}});
  const NDArray weights = NDArray::zeros(*session, {100000}, MemoryTag::weights, gpu(0));
  must(weights.waitToRead());
  const NDArray more = NDArray::zeros(*session, {200000}, MemoryTag::activations, gpu(0));
  const Status status = more.waitToRead();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::io);
  EXPECT_THAT(status.error().message, HasSubstr("no memory for 800000 bytes of activations on gpu(0)"));
  EXPECT_THAT(status.error().message, HasSubstr("weights 400000"));
  EXPECT_THAT(status.error().message, HasSubstr("of the device's 1048576 bytes are free"));
  EXPECT_THAT(status.error().message, HasSubstr("MXNET_BACKWARD_DO_MIRROR=1"));
}

TEST_P(Gpu, AnErrorReachesWhatHasStartedBehindIt) {
  const NDArray data = onGpu({2, 3}, {1, 2, 3, 4, 5, 6});
  const NDArray loss = must(op::softmaxCrossEntropy(data, onGpu({2}, {1, 7})));
  const NDArray twice = must(op::multiplyScalar(loss, 2)), sum = must(op::addScalar(twice, 1));
  const NDArray other = must(op::addScalar(data, 1));
  EXPECT_THAT(errorOf(sum.toVector()), HasSubstr("label of sample 1 is 7"));
  EXPECT_EQ(must(other.toVector()), (Floats{2, 3, 4, 5, 6, 7}));
}

TEST_P(Gpu, ReadsOfItsPeersUnlessForbidden) {
  for (const bool allowed : {true, false}) {
    gpus = std::make_shared<FakeGpuPlatform>(FakeGpuOptions{.devices = 3});
    session = open({{"MXNET_ENABLE_GPU_P2P", allowed ? "1" : "0"}});
    must(must(onGpu({2}, {1, 2}, 0).copyTo(gpu(2))).waitToRead());
    using Pairs = std::set<std::pair<int, int>>;
    EXPECT_EQ(gpus->fake.peers(), allowed ? (Pairs{{0, 2}, {2, 0}}) : Pairs()) << allowed;
  }
}

// A device that is full of temporary arrays whose readers have not ended.
TEST_P(Gpu, WaitsForMemoryThatIsAboutToBeFreed) {
  gpus = std::make_shared<FakeGpuPlatform>(FakeGpuOptions{.memory = 1 << 20, .delay_us = 200});
  session = open({});
  NDArray x = onGpu({50000}, Floats(50000, 0));
  for (int i = 0; i < 40; ++i) x = must(op::addScalar(x, 1));
  EXPECT_EQ(must(x.toVector()), Floats(50000, 40));
}

INSTANTIATE_TEST_SUITE_P(Engines, Gpu,
                         testing::Values("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"),
                         [](const auto& engine) { return std::string(engine.param); });

// --- Operators that start before those they follow have ended ---

struct GpuAhead : Gpu {
  void SetUp() override {
    must(onGpu({1}, {0}).waitToRead());  // the streams are open
  }
  // True as soon as so many pieces of work are on the streams.
  bool areOnStreams(int works) const {
    for (int i = 0; i < 2000 && gpus->fake.works() < works; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return gpus->fake.works() >= works;
  }
};

TEST_P(GpuAhead, PutTheirWorkOnStreams) {
  const NDArray x = onGpu({3}, {1, 2, 3});
  must(x.waitToRead());
  gpus->fake.setPaused(true);
  const int before = gpus->fake.works();
  NDArray y = x;
  for (int i = 0; i < 4; ++i) y = must(op::addScalar(y, 1));
  EXPECT_TRUE(areOnStreams(before + 8)) << "a kernel and an event of each";
  gpus->fake.setPaused(false);
  EXPECT_EQ(must(y.toVector()), (Floats{5, 6, 7}));
}

TEST_P(GpuAhead, TheHostWaitsUntilTheWorkIsDone) {
  const NDArray x = onGpu({3}, {1, 2, 3});
  must(x.waitToRead());
  gpus->fake.setPaused(true);
  const int before = gpus->fake.works();
  const NDArray y = must(op::addScalar(x, 1));
  const NDArray sum = must(op::addScalar(must(y.copyTo(cpu(0))), 1));  // computed by the host
  auto waited = std::async(std::launch::async, [&y] { must(y.waitToRead()); });
  EXPECT_TRUE(areOnStreams(before + 2));
  EXPECT_EQ(waited.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  EXPECT_EQ(gpus->fake.works(), before + 2) << "not the copy: it would block its worker";
  gpus->fake.setPaused(false);
  waited.get();
  EXPECT_EQ(must(sum.toVector()), (Floats{3, 4, 5}));
}

INSTANTIATE_TEST_SUITE_P(Engines, GpuAhead, testing::Values("ThreadedEngine", "ThreadedEnginePerDevice"),
                         [](const auto& engine) { return std::string(engine.param); });

// --- Completion without a session ---

TEST(GpuCompleter, KeepsTheOrderOfAStream) {
  FakeGpuDriver driver({.delay_us = 50});
  const GpuStream streams[] = {must(driver.createStream()), must(driver.createStream())};
  std::vector<GpuEvent> events;
  std::vector<int> seen[2];
  {
    GpuCompleter completer(driver);
    for (int i = 0; i < 40; ++i) {
      const auto stream = static_cast<std::size_t>(i % 2);
      const GpuEvent event = must(driver.createEvent());
      events.push_back(event);
      must(driver.record(event, streams[stream]));
      completer.add(streams[stream], event, [&seen, stream, i](Status status) {
        EXPECT_TRUE(status.has_value());
        seen[stream].push_back(i);
      });
    }
  }
  for (const auto& of_stream : seen) {
    EXPECT_EQ(of_stream.size(), 20U);
    EXPECT_TRUE(std::is_sorted(of_stream.begin(), of_stream.end()));
  }
  for (const GpuEvent event : events) driver.destroyEvent(event);
  for (const GpuStream stream : streams) driver.destroyStream(stream);
}

TEST(GpuCompleter, KeepsTheOrderOfStreamsThatWaitForEachOther) {
  FakeGpuDriver driver({});
  const GpuStream streams[] = {must(driver.createStream()), must(driver.createStream())};
  std::vector<GpuEvent> events;
  std::vector<int> seen;
  {
    GpuCompleter completer(driver);
    for (int i = 0; i < 400; ++i) {
      const GpuStream stream = streams[i % 2];
      if (i > 0) must(driver.wait(stream, events.back()));
      events.push_back(must(driver.createEvent()));
      must(driver.record(events.back(), stream));
      completer.add(stream, events.back(), [&seen, i](const Status&) { seen.push_back(i); });
    }
  }
  EXPECT_EQ(seen.size(), 400U);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  for (const GpuEvent event : events) driver.destroyEvent(event);
  for (const GpuStream stream : streams) driver.destroyStream(stream);
}

// The thread sleeps longer the longer it waits: 100 looks to begin with, then one each 200 microseconds.
TEST(GpuCompleter, LooksRarelyAtLongWork) {
  FakeGpuDriver driver({.delay_us = 400'000});
  const GpuStream stream = must(driver.createStream());
  const GpuEvent event = must(driver.createEvent());
  const auto start = std::chrono::steady_clock::now();
  must(driver.record(event, stream));
  bool done = false;
  {
    GpuCompleter completer(driver);
    completer.add(stream, event, [&](const Status&) { done = true; });
  }
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_TRUE(done);
  EXPECT_LT(driver.looks(), 1000 + took / std::chrono::microseconds(200));
  driver.destroyEvent(event);
  driver.destroyStream(stream);
}

// --- Pools over the memory of a device ---

struct GpuPool : testing::Test {
  FakeGpuDriver driver{{.memory = 10 << 20}};
  std::unique_ptr<Storage> open(SettingList values) {
    const Settings settings = must(Settings::fromValues(values));
    StorageOptions options = must(StorageOptions::fromSettings(settings, DeviceKind::gpu));
    options.device = gpu(0);
    options.system = gpuMemory(driver, gpu(0));
    return must(Storage::open(options));
  }
};

TEST_F(GpuPool, FollowsTheSettingsOfGpuMemory) {
  const auto naive =
      open({{"MXNET_GPU_MEM_POOL_PAGE_SIZE", "512"}, {"MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE", "65536"}});
  {
    const Block small = must(naive->allocate(100, MemoryTag::other)),
                large = must(naive->allocate(70000, MemoryTag::other));
  }
  EXPECT_EQ(naive->cachedBytes(), 512 + 131072);
  const auto round =
      open({{"MXNET_GPU_MEM_POOL_TYPE", "Round"}, {"MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF", "20"}});
  {
    const Block odd = must(round->allocate(70000, MemoryTag::other)),
                large = must(round->allocate((2 << 20) + 1, MemoryTag::other));
  }
  EXPECT_EQ(round->cachedBytes(), 131072 + (3 << 20));
  const auto none = open({{"MXNET_GPU_MEM_POOL_TYPE", "Unpooled"}});
  { const Block block = must(none->allocate(100, MemoryTag::other)); }
  EXPECT_EQ(none->cachedBytes(), 0);
}

TEST_F(GpuPool, GivesItsCacheBackBeforeItUsesTheReserve) {
  const auto storage = open({{"MXNET_GPU_MEM_POOL_RESERVE", "50"}});
  { const Block block = must(storage->allocate(3 << 20, MemoryTag::other)); }
  EXPECT_EQ(storage->cachedBytes(), 4 << 20);
  const Block within = must(storage->allocate(1 << 20, MemoryTag::other));  // 5 MiB stay free
  EXPECT_EQ(storage->cachedBytes(), 4 << 20);
  const Block beyond = must(storage->allocate(2 << 20, MemoryTag::other));
  EXPECT_EQ(storage->cachedBytes(), 0) << "half of the device would not have been free";
}

TEST_F(GpuPool, RetriesWithoutItsCache) {
  const auto storage = open({{"MXNET_GPU_MEM_POOL_RESERVE", "0"}});
  { const Block block = must(storage->allocate(8 << 20, MemoryTag::other)); }
  EXPECT_EQ(storage->cachedBytes(), 8 << 20);
  const Block other = must(storage->allocate(4 << 20, MemoryTag::other));
  EXPECT_EQ(storage->cachedBytes(), 0);
}

}  // namespace
}  // namespace pitwall::test::gpu_work_test
