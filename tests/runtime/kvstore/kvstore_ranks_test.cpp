// Stores between processes. Every rank of a job runs the same cases; alone, the program is a job of one rank.

#include <cstdlib>
#include <set>
#include <thread>

#include "runtime/kvstore.h"
#include "runtime/trainer.h"
#include "tests/runtime/gpu/fake_gpu.h"
#include "tests/runtime/nn/nn_support.h"
#include "tests/support/memory_sink.h"

namespace pitwall::test::kvstore_ranks_test {
namespace {

using Floats = std::vector<float>;
constexpr int kDevices = 2;

bool hasServers() {
  const char* const servers = std::getenv("DMLC_NUM_SERVER");
  return servers != nullptr && std::atoi(servers) > 0;
}

struct Kind {
  const char* type;
  DeviceKind devices = DeviceKind::cpu;  // GPUs: threads of the host (fake_gpu.h)
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.type << " of " << toString(kind.devices); }

struct RanksTest : testing::TestWithParam<Kind> {
  void open(SettingList settings = {}) {
    store = nullptr;
    session = must(Session::open(
        {.trace_path = "", .backend = "reference", .settings = std::move(settings), .gpus = gpus}));
    auto opened = KVStore::create(*session, GetParam().type);
    if (!opened.has_value() && opened.error().message.find("built without MPI") != std::string::npos)
      GTEST_SKIP() << opened.error().message;
    store = must(std::move(opened));
    rank = store->rank();
    ranks = store->workers();
  }
  static Device at(int index) { return {GetParam().devices, index}; }
  NDArray full(const Shape& shape, float value, int device = 0) {
    return NDArray::fromValues(*session, shape, Floats(static_cast<std::size_t>(shape.elements()), value),
                               MemoryTag::data, at(device));
  }
  // Device d of rank r has (r + 1) * rate: summed over ranks and devices kDevices * rate * n (n + 1) / 2.
  std::vector<NDArray> parts(const Shape& shape, float rate = 1) {
    std::vector<NDArray> arrays;
    for (int device = 0; device < kDevices; ++device)
      arrays.push_back(full(shape, rate * static_cast<float>(rank + 1), device));
    return arrays;
  }
  float sum(float rate = 1) const {
    return rate * kDevices * static_cast<float>(ranks) * static_cast<float>(ranks + 1) / 2;
  }
  void expectAll(const NDArray& array, float value) {
    const Floats values = must(array.toVector());
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], value) << "rank " << rank << ' ' << i;
  }

  std::shared_ptr<FakeGpuPlatform> gpus =
      std::make_shared<FakeGpuPlatform>(FakeGpuOptions{.devices = kDevices});
  std::unique_ptr<Session> session;
  std::unique_ptr<KVStore> store;
  int rank = 0, ranks = 1;
};

// Small and large, and one whose size is no multiple of anything.
const Shape kShapes[] = {{2, 3}, {50, 50}, {1200, 1200}, {1211, 1211}};

TEST_P(RanksTest, PushesAreSummedOverRanksAndDevices) {
  open();
  if (!store) return;
  int key = 0;
  for (const Shape& shape : kShapes) {
    must(store->init(key, full(shape, static_cast<float>(7 + rank))));
    const auto values = parts(shape);
    const NDArray first = full(shape, 0);
    must(store->pull(key, first));
    expectAll(first, 7);
    must(store->push(key, values));
    must(store->pull(key, values));
    for (const NDArray& value : values) expectAll(value, sum());
    ++key;
  }
}

// 1 + (i + 1) * rate * (sum over ranks and devices) after push i.
TEST_P(RanksTest, AnUpdaterAddsTheSameOnAllRanks) {
  open();
  if (!store) return;
  const Shape shape{100, 3};
  const float rate = 2;
  must(store->init("w", full(shape, 1)));
  must(store->setOptimizer({"sgd", {{"learning_rate", -rate}}}));
  const NDArray out = full(shape, 0);
  for (int push = 0; push < 5; ++push) {
    must(store->push("w", parts(shape)));
    must(store->pull("w", out));
    expectAll(out, 1 + static_cast<float>(push + 1) * sum(rate));
  }
}

TEST_P(RanksTest, ManyKeysInAnyOrderOfReadiness) {
  for (const char* bucket : {"4194304", "2000", "0"}) {
    open({{"PITWALL_KVSTORE_BUCKET_BYTES", bucket}, {"MXNET_CPU_PRIORITY_NTHREADS", "3"}});
    if (!store) return;
    constexpr int kKeys = 60;
    const Shape shape{17, 5};
    for (int key = 0; key < kKeys; ++key) must(store->init(key, full(shape, 0)));
    for (int round = 1; round <= 3; ++round) {
      std::vector<NDArray> outs;
      for (int key = 0; key < kKeys; ++key) {
        must(store->push(key, parts(shape, static_cast<float>(key * round)), -key));
        // Ranks are late for different keys.
        if (key % 7 == rank) std::this_thread::sleep_for(std::chrono::microseconds(300));
      }
      for (int key = 0; key < kKeys; ++key) {
        outs.push_back(full(shape, 0));
        must(store->pull(key, outs.back(), -key));
      }
      for (int key = 0; key < kKeys; ++key)
        expectAll(outs[static_cast<std::size_t>(key)], sum(static_cast<float>(key * round)));
    }
  }
}

TEST_P(RanksTest, ArraysInPartsBySizeOfThePriorityVan) {
  open({{"DMLC_PS_VAN_TYPE", "p3"}, {"MXNET_KVSTORE_SLICE_THRESHOLD", "1000"}});
  if (!store) return;
  const Shape shape{123, 45};
  must(store->init("w", full(shape, 0)));
  const auto values = parts(shape);
  must(store->pushPull("w", values));
  expectAll(values[1], sum());
  const Status compressed = store->setCompression({"2bit", 1});
  ASSERT_FALSE(compressed.has_value());
  EXPECT_NE(compressed.error().message.find("DMLC_PS_VAN_TYPE=p3"), std::string::npos);
}

// Each rank's sum over its devices is compressed: 2 * 0.3 * (rank + 1) against a threshold of 1.
TEST_P(RanksTest, CompressionSendsTwoBitsOfEachRanksSum) {
  open();
  if (!store) return;
  must(store->setCompression({"2bit", 1}));
  const Shape shape{33};
  must(store->init("g", full(shape, 5)));
  const NDArray out = full(shape, 0);
  must(store->pull("g", out));
  expectAll(out, 5);
  std::vector<float> left(static_cast<std::size_t>(ranks), 0);
  for (int push = 0; push < 4; ++push) {
    must(store->push("g", parts(shape, 0.25F)));
    must(store->pull("g", out));
    float expected = 0;
    for (int r = 0; r < ranks; ++r) {
      float& residual = left[static_cast<std::size_t>(r)];
      residual += 0.5F * static_cast<float>(r + 1);
      if (residual >= 1) expected += 1, residual -= 1;
    }
    expectAll(out, expected);
  }
}

TEST_P(RanksTest, BarrierAndRefusals) {
  open();
  if (!store) return;
  EXPECT_EQ(store->type(), GetParam().type);
  EXPECT_TRUE(store->canOptimize());
  for (int i = 0; i < 3; ++i) must(store->barrier());
  must(store->init("e", full({4, 3}, 0)));
  const StoreRows rows{{1}, full({1, 3}, 1)};
  const Status pushed = store->pushRows("e", std::span(&rows, 1));
  ASSERT_FALSE(pushed.has_value());
  EXPECT_NE(pushed.error().message.find("push the whole array"), std::string::npos);
}

// Ranks of a job on one machine sum through memory that they share, unless the setting says 0.
TEST_P(RanksTest, TheTraceSaysHowRanksSum) {
  const char* const given = std::getenv("PITWALL_KVSTORE_SHARED_MEMORY");
  for (const std::string shares : {"1", "0"}) {
    if (given != nullptr && given != shares) continue;
    open({{"PITWALL_KVSTORE_SHARED_MEMORY", shares}});
    if (!store) return;
    auto owned = std::make_unique<MemorySink>();
    const MemorySink* const sink = owned.get();  // until the recording stops
    must(session->profiler().start(std::move(owned)));
    must(store->init("key", full({7}, 0)));
    must(store->push("key", parts({7})));
    must(store->barrier());
    must(session->engine().waitForAll());
    must(session->profiler().flush());
    std::set<std::string> names;
    for (const auto& [track, event] : sink->all_events) names.insert(sink->text(event.name));
    EXPECT_EQ(names.contains("sum in shared memory"), shares == "1" && ranks > 1);
    EXPECT_EQ(names.contains("MPI sum"), shares == "0" || ranks == 1);
  }
}

// What pushPull() leaves in an array in place is also what pull() gets: of large arrays, of small ones that share an exchange, and of one
// alone.
TEST_P(RanksTest, SumsInPlaceAreTheContents) {
  open();
  if (!store) return;
  const Shape shapes[] = {{300, 300}, {3}, {5, 7}, {700, 901}, {11}};
  constexpr int kKeys = 5;
  for (int key = 0; key < kKeys; ++key) must(store->init(key, full(shapes[key], 0)));
  const auto expectSums = [&](int first, int last) {
    std::vector<NDArray> arrays;
    for (int key = first; key < last; ++key)
      arrays.push_back(full(shapes[key], static_cast<float>((key + 1) * (rank + 1))));
    for (int round = 1; round <= 2; ++round) {
      for (int key = first; key < last; ++key)
        must(store->pushPull(key, std::span(&arrays[static_cast<std::size_t>(key - first)], 1)));
      for (int key = first; key < last; ++key) {
        const float once = static_cast<float>((key + 1) * ranks * (ranks + 1)) / 2;
        const float expected = round == 1 ? once : once * static_cast<float>(ranks);
        const NDArray out = full(shapes[key], 0);
        must(store->pull(key, out));
        expectAll(arrays[static_cast<std::size_t>(key - first)], expected);
        expectAll(out, expected);
      }
    }
  };
  expectSums(0, kKeys);
  expectSums(1, 2);
}

TEST_P(RanksTest, AWrongRoleOrNumberOfWorkersIsAnError) {
  if (hasServers()) GTEST_SKIP() << "the roles are those of the job";
  open();
  if (!store) return;
  store = nullptr;
  const auto messageWith = [](const char* name, const char* value) {
    const auto other = openSession("reference", {{name, value}});
    const auto refused = KVStore::create(*other, GetParam().type);
    return refused.has_value() ? "" : refused.error().message;
  };
  EXPECT_NE(messageWith("DMLC_ROLE", "server").find("call KVStore::serve() before KVStore::create()"),
            std::string::npos);
  EXPECT_NE(messageWith("DMLC_ROLE", "scheduler").find("there is no scheduler"), std::string::npos);
  EXPECT_NE(messageWith("DMLC_NUM_WORKER", "99").find("start them with mpirun -n 99"), std::string::npos);
  EXPECT_NE(messageWith("DMLC_NUM_SERVER", "99").find("of which one at least must be a worker"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RanksTest,
                         testing::Values(Kind{"dist_sync"}, Kind{"dist_device_sync"},
                                         Kind{"dist_sync_device"}, Kind{"dist_sync", DeviceKind::gpu},
                                         Kind{"dist_device_sync", DeviceKind::gpu}));

using HorovodTest = RanksTest;
INSTANTIATE_TEST_SUITE_P(Kinds, HorovodTest,
                         testing::Values(Kind{"horovod"}, Kind{"horovod", DeviceKind::gpu}));

TEST_P(HorovodTest, SumsAndBroadcastsAlone) {
  open();
  if (!store) return;
  EXPECT_FALSE(store->canOptimize());
  const auto values = parts({5});
  must(store->pushPull("unknown before", values));
  for (const NDArray& value : values) expectAll(value, sum());
  must(store->broadcast("w", full({3}, static_cast<float>(10 + rank)), std::vector<NDArray>{full({3}, 0)}));
  const NDArray out = full({3}, 0);
  must(store->pull("w", out));
  expectAll(out, 10);
  EXPECT_NE(store->push("w", out).error().message.find("pushPull() and broadcast() alone"),
            std::string::npos);
  EXPECT_FALSE(store->setOptimizer({}).has_value());
  EXPECT_FALSE(store->setCompression({"2bit", 1}).has_value());
}

// What one process computes with the whole batch, all ranks compute with their parts.
TEST_P(RanksTest, TrainingGivesTheWeightsOfOneProcess) {
  for (const bool on_store : {true, false}) {
    open();
    if (!store) return;
    store = nullptr;
    const auto train = [&](const char* type, int part, int of) {
      nn::Sequential net;
      net.add(nn::Dense("dense1", {.units = 8})).add(nn::Activation("tanh1", ActivationType::tanh));
      net.add(nn::Dense("dense2", {.units = 3}));
      must(net.initialise(Initialiser::xavier(), 5));
      TrainerOptions options{.optimizer = {"adam", {{"learning_rate", 0.01F}}}, .kvstore = type};
      options.update_on_kvstore = on_store;
      const auto trainer = must(Trainer::make(*session, {net.parameters()}, options));
      nn::SoftmaxCrossEntropy loss;
      constexpr std::int64_t kItems = 12;
      for (std::uint32_t step = 0; step < 5; ++step) {
        const Floats data = numbers(kItems * 6, step);
        const std::int64_t begin = kItems * part / of, end = kItems * (part + 1) / of;
        Floats labels;
        for (std::int64_t i = begin; i < end; ++i) labels.push_back(static_cast<float>(i % 3));
        const auto rows = std::span(data).subspan(static_cast<std::size_t>(begin * 6),
                                                  static_cast<std::size_t>((end - begin) * 6));
        const NDArray x = NDArray::fromValues(*session, {end - begin, 6}, rows);
        const NDArray y = NDArray::fromValues(*session, {end - begin}, labels);
        const NDArray result = must(autograd::record([&] { return loss.forward(must(net.forward(x)), y); }));
        must(autograd::backward(result));
        must(trainer->step(kItems));
      }
      std::vector<Floats> weights;
      for (const auto& parameter : net.parameters()) weights.push_back(must(parameter->value.toVector()));
      return weights;
    };
    const auto alone = train("device", 0, 1), together = train(GetParam().type, rank, ranks);
    for (std::size_t i = 0; i < alone.size(); ++i)
      for (std::size_t k = 0; k < alone[i].size(); ++k) ASSERT_NEAR(together[i][k], alone[i][k], 1e-5) << i;
  }
}

}  // namespace
}  // namespace pitwall::test::kvstore_ranks_test
