// Stores on servers. Every worker of a job runs the same cases; without servers they are skipped.

#include <cstdlib>
#include <thread>

#include "runtime/kvstore.h"
#include "runtime/trainer.h"
#include "tests/runtime/gpu/fake_gpu.h"
#include "tests/runtime/nn/nn_support.h"
#include "tests/support/memory_sink.h"

namespace pitwall::test::async_ranks_test {
namespace {

using Floats = std::vector<float>;

std::int64_t numberIn(const char* name, std::int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

struct AsyncRanksTest : testing::Test {
  void SetUp() override {
    if (numberIn("DMLC_NUM_SERVER", 0) == 0) GTEST_SKIP() << "the job has no servers";
    ahead = numberIn("PITWALL_KVSTORE_STALENESS", -1);
  }
  void open(SettingList settings = {}, const char* type = "dist_async") {
    store = nullptr;
    session = must(Session::open(
        {.trace_path = "", .backend = "reference", .settings = std::move(settings), .gpus = gpus}));
    store = must(KVStore::create(*session, type));
    rank = store->rank();
    workers = store->workers();
  }
  NDArray full(const Shape& shape, float value, Device device = {}) const {
    return NDArray::fromValues(*session, shape, Floats(static_cast<std::size_t>(shape.elements()), value),
                               MemoryTag::data, device);
  }
  // Each push adds what is pushed.
  void addsPushes() { must(store->setOptimizer({"sgd", {{"learning_rate", -1}}})); }
  void expectAll(const NDArray& array, float value) const {
    const Floats values = must(array.toVector());
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], value) << "worker " << rank << ' ' << i;
  }

  std::shared_ptr<FakeGpuPlatform> gpus = std::make_shared<FakeGpuPlatform>(FakeGpuOptions{.devices = 2});
  std::unique_ptr<Session> session;
  std::unique_ptr<KVStore> store;
  int rank = 0, workers = 1;
  std::int64_t ahead = -1;
};

// On one server each, and cut up over all.
TEST_F(AsyncRanksTest, EveryPushOfEveryWorkerCountsOnce) {
  const auto at = [](DeviceKind kind, int index) { return Device{kind, index}; };
  const std::pair<const char*, DeviceKind> kinds[] = {{"dist_async", DeviceKind::cpu},
                                                      {"dist_async_device", DeviceKind::cpu},
                                                      {"dist_async", DeviceKind::gpu},
                                                      {"dist_async_device", DeviceKind::gpu}};
  for (const auto& [type, devices] : kinds) {
    open({{"MXNET_KVSTORE_BIGARRAY_BOUND", "2000"}}, type);
    addsPushes();
    const Shape shapes[] = {{2, 3}, {50, 50}, {211, 211}};
    constexpr int kPushes = 4;
    int key = 0;
    for (const Shape& shape : shapes) {
      must(store->init(key, full(shape, static_cast<float>(7 + rank), at(devices, 0))));
      const NDArray first = full(shape, 0, at(devices, 0));
      must(store->pull(key, first));
      must(store->barrier());
      const std::vector<NDArray> values = {full(shape, static_cast<float>(rank + 1), at(devices, 0)),
                                           full(shape, static_cast<float>(rank + 1), at(devices, 1))};
      for (int push = 0; push < kPushes; ++push) {
        must(store->push(key, values));
        must(store->pull(key, first));
      }
      must(first.waitToRead());
      must(store->barrier());
      must(store->pull(key, first));
      expectAll(first, static_cast<float>(7 + kPushes * workers * (workers + 1)));
      ++key;
    }
  }
}

// Those of worker 0, when it comes.
TEST_F(AsyncRanksTest, TheFirstContentsAreThoseOfWorkerZero) {
  open();
  if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const NDArray out = full({33}, 0);
  must(store->broadcast("w", full({33}, static_cast<float>(7 + rank)), std::span(&out, 1)));
  expectAll(out, 7);
}

// A push that has been answered has been made by the others too, but for the pushes that the bound allows.
TEST_F(AsyncRanksTest, NoWorkerIsFurtherAheadThanTheBound) {
  if (ahead < 0) GTEST_SKIP() << "PITWALL_KVSTORE_STALENESS is not set";
  open();
  addsPushes();
  must(store->init("w", full({8}, 0)));
  const NDArray one = full({8}, 1), out = full({8}, 0);
  for (int push = 1; push <= 8; ++push) {
    if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    must(store->push("w", one));
    must(store->pull("w", out));
    const float least =
        static_cast<float>(push) +
        static_cast<float>(workers - 1) * static_cast<float>(std::max<std::int64_t>(push - ahead, 0));
    ASSERT_GE(must(out.toVector())[0], least) << "worker " << rank << " push " << push;
  }
}

// What a worker does not know when it computes a gradient is the gradient's staleness.
TEST_F(AsyncRanksTest, AnswersAreRecordedWithKeyRankAndStaleness) {
  if (ahead >= 0) GTEST_SKIP() << "workers take turns";
  open();
  auto owned = std::make_unique<MemorySink>();
  MemorySink* const sink = owned.get();
  must(session->profiler().start(std::move(owned)));
  addsPushes();
  must(store->init("fc1_weight", full({6}, 0)));
  const NDArray value = full({6}, 1);
  must(store->pull("fc1_weight", value));
  must(value.waitToRead());
  must(store->barrier());
  for (int turn = 0; turn < workers; ++turn) {
    if (turn == rank) {
      must(store->push("fc1_weight", value));
      must(session->engine().waitForAll());
    }
    must(store->barrier());
  }
  must(session->profiler().flush());
  int answers = 0;
  for (const auto& [track, event] : sink->all_events) {
    if (sink->text(event.name) != "push applied") continue;
    ++answers;
    EXPECT_EQ(event.value, 24);
    const std::string& arguments = sink->text(event.args);
    EXPECT_NE(arguments.find(R"("key":"fc1_weight")"), std::string::npos) << arguments;
    EXPECT_NE(arguments.find(R"("rank":)" + std::to_string(workers)), std::string::npos) << arguments;
    EXPECT_NE(arguments.find(R"("staleness":)" + std::to_string(rank)), std::string::npos) << arguments;
  }
  EXPECT_EQ(answers, 1);
}

TEST_F(AsyncRanksTest, RefusesWhatServersCannotDo) {
  open();
  EXPECT_TRUE(store->canOptimize());
  must(store->init("w", full({4, 2}, 1)));
  const NDArray value = full({4, 2}, 1);
  const auto refusal = [](const Status& status) { return status.has_value() ? "" : status.error().message; };
  EXPECT_NE(refusal(store->push("w", value)).find("call setOptimizer() first"), std::string::npos);
  EXPECT_NE(refusal(store->setUpdater({})).find("use setOptimizer()"), std::string::npos);
  EXPECT_NE(refusal(store->setOptimizer({"sgd", {{"speed", 1}}})).find("speed"), std::string::npos);
  EXPECT_NE(refusal(store->setCompression({"2bit", 1})).find("use dist_sync"), std::string::npos);
  const StoreRows rows{{1}, full({1, 2}, 1)};
  EXPECT_NE(refusal(store->pushRows("w", std::span(&rows, 1))).find("use the whole array"),
            std::string::npos);
  EXPECT_NE(refusal(store->init(std::string(300, 'k'), value)).find("at most 223 letters"),
            std::string::npos);
  must(store->barrier());
}

// Worker 0 comes last: the key of the others counts, and it gets the error.
TEST_F(AsyncRanksTest, AWorkerThatInitialisesAnotherKeyGetsAnError) {
  open();
  if (workers == 1) GTEST_SKIP() << "one worker";
  if (rank == 0) must(store->barrier());
  const NDArray value = full({4}, 1);
  must(store->init(rank == 0 ? "a" : "b", value));
  const Status waited = session->engine().waitForAll();
  if (rank != 0) must(store->barrier());
  ASSERT_EQ(waited.has_value(), rank != 0);
  if (rank != 0) return;
  EXPECT_NE(waited.error().message.find("call init() for the same keys in the same order"),
            std::string::npos);
}

// One worker and its server compute what one process does.
TEST_F(AsyncRanksTest, TrainingUpdatesOnTheServers) {
  open({{"MXNET_KVSTORE_BIGARRAY_BOUND", "20"}});
  store = nullptr;
  const auto train = [&](const char* type) {
    nn::Sequential net;
    net.add(nn::Dense("dense1", {.units = 8})).add(nn::Activation("tanh1", ActivationType::tanh));
    net.add(nn::Dense("dense2", {.units = 3}));
    must(net.initialise(Initialiser::xavier(), 5));
    const auto trainer = must(Trainer::make(
        *session, {net.parameters()}, {.optimizer = {"adam", {{"learning_rate", 0.01F}}}, .kvstore = type}));
    nn::SoftmaxCrossEntropy loss;
    for (std::uint32_t step = 0; step < 5; ++step) {
      const NDArray x = NDArray::fromValues(*session, {4, 6}, numbers(24, step));
      const Floats labels = {0, 1, 2, 0};
      const NDArray y = NDArray::fromValues(*session, {4}, labels);
      const NDArray result = must(autograd::record([&] { return loss.forward(must(net.forward(x)), y); }));
      must(autograd::backward(result));
      must(trainer->step(4));
    }
    std::vector<Floats> weights;
    for (const auto& parameter : net.parameters()) weights.push_back(must(parameter->value.toVector()));
    return weights;
  };
  const auto alone = train("device"), served = train("dist_async");
  ASSERT_EQ(alone.size(), served.size());
  for (std::size_t i = 0; i < alone.size() && workers == 1; ++i)
    for (std::size_t k = 0; k < alone[i].size(); ++k) ASSERT_NEAR(served[i][k], alone[i][k], 1e-5) << i;
}

}  // namespace
}  // namespace pitwall::test::async_ranks_test
