// Key-value stores of arrays on GPUs that are threads of the host (fake_gpu.h).
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "runtime/array/array.h"
#include "runtime/gpu/exchange.h"
#include "runtime/kvstore.h"
#include "runtime/kvstore/link_trees.h"
#include "tests/runtime/gpu/fake_gpu.h"
#include "tests/runtime/nn/nn_support.h"
#include "tests/support/memory_sink.h"

namespace pitwall::test::gpu_kvstore_test {
namespace {

using Floats = std::vector<float>;

struct GpuStore : testing::TestWithParam<const char*> {
  std::shared_ptr<FakeGpuPlatform> gpus =
      std::make_shared<FakeGpuPlatform>(FakeGpuOptions{.devices = 2, .delay_us = 30});
  std::unique_ptr<Session> session =
      must(Session::open({.trace_path = "", .backend = "reference", .settings = {}, .gpus = gpus}));
  std::unique_ptr<KVStore> store = must(KVStore::create(*session, GetParam()));

  NDArray on(Device device, const Floats& values) {
    return NDArray::fromValues(*session, {static_cast<std::int64_t>(values.size())}, values, MemoryTag::data,
                               device);
  }
};

TEST_P(GpuStore, SumsWhatTheDevicesPushAndCopiesItBack) {
  must(store->init("g", on(cpu(0), {0, 0, 0})));
  for (int i = 1; i <= 3; ++i) {
    const auto x = static_cast<float>(i);
    const NDArray values[] = {on(gpu(0), {x, 2, 3}), on(gpu(1), {10, 20, 30 * x})};
    must(store->push("g", values));
    const NDArray outputs[] = {NDArray::empty(*session, {3}, MemoryTag::data, DType::float32, gpu(0)),
                               NDArray::empty(*session, {3}, MemoryTag::data, DType::float32, gpu(1)),
                               NDArray::empty(*session, {3})};
    must(store->pull("g", outputs));
    for (const NDArray& output : outputs)
      EXPECT_EQ(must(output.toVector()), (Floats{x + 10, 22, 3 + 30 * x})) << toString(output.device());
  }
}

TEST_P(GpuStore, OneDeviceAlone) {
  must(store->init(7, on(gpu(1), {1, 1})));
  must(store->pushPull(7, std::vector{on(gpu(1), {4, 5})}, {}));
  const NDArray out = NDArray::empty(*session, {2}, MemoryTag::data, DType::float32, gpu(0));
  must(store->pull(7, out));
  EXPECT_EQ(must(out.toVector()), (Floats{4, 5}));
}

// w - 0.5 (1 + 3), where the store holds it.
TEST_P(GpuStore, UpdatesWeights) {
  must(store->init("w", on(gpu(0), {10, 20})));
  must(store->setOptimizer({"sgd", {{"learning_rate", 0.5F}}}));
  const NDArray gradients[] = {on(gpu(0), {1, 2}), on(gpu(1), {3, 4})};
  must(store->push("w", gradients));
  const NDArray out = NDArray::empty(*session, {2}, MemoryTag::data, DType::float32, gpu(1));
  must(store->pull("w", out));
  EXPECT_EQ(must(out.toVector()), (Floats{8, 17}));
}

INSTANTIATE_TEST_SUITE_P(Kinds, GpuStore, testing::Values("local", "device", "nccl"),
                         [](const auto& kind) { return std::string(kind.param); });

struct GpuStoreSettings : testing::Test {
  void open(int devices, SettingList settings, const char* type) {
    store = nullptr;
    session = nullptr;
    gpus = std::make_shared<FakeGpuPlatform>(FakeGpuOptions{.devices = devices, .delay_us = 10});
    session = must(Session::open(
        {.trace_path = "", .backend = "reference", .settings = std::move(settings), .gpus = gpus}));
    store = must(KVStore::create(*session, type));
  }
  // Of each of these GPUs one: i in all its elements on gpu(i).
  std::vector<NDArray> on(std::initializer_list<int> devices, std::int64_t count = 2) {
    std::vector<NDArray> arrays;
    for (const int device : devices)
      arrays.push_back(NDArray::fromValues(
          *session, {count}, Floats(static_cast<std::size_t>(count), static_cast<float>(device)),
          MemoryTag::data, gpu(device)));
    return arrays;
  }

  std::shared_ptr<FakeGpuPlatform> gpus;
  std::unique_ptr<Session> session;
  std::unique_ptr<KVStore> store;
};

// What GPUs send, and what they keep for the next push, is what devices of the CPU do; also where both push.
TEST_F(GpuStoreSettings, CompressesAsTheCpu) {
  constexpr std::int64_t kCount = 1003;
  const auto sums = [&](std::initializer_list<Device> devices) {
    open(2, {}, "device");
    must(store->setCompression({"2bit", 0.25F}));
    must(store->init("g", NDArray::zeros(*session, {kCount})));
    std::vector<Floats> found;
    for (std::uint32_t round = 0; round < 4; ++round) {
      std::vector<NDArray> values;
      for (const Device device : devices)
        values.push_back(NDArray::fromValues(
            *session, {kCount}, numbers(kCount, 10 * round + static_cast<std::uint32_t>(values.size())),
            MemoryTag::data, device));
      must(store->push("g", values));
      const NDArray out =
          NDArray::empty(*session, {kCount}, MemoryTag::data, DType::float32, *devices.begin());
      must(store->pull("g", out));
      found.push_back(must(out.toVector()));
    }
    return found;
  };
  const std::vector<Floats> expected = sums({cpu(0), cpu(1)});
  EXPECT_NE(expected[0], expected[1]);
  EXPECT_EQ(sums({gpu(0), gpu(1)}), expected);
  EXPECT_EQ(sums({gpu(1), cpu(0)}), expected);
}

// Of each GPU's array the codes alone travel: 2 bits for each element.
TEST_F(GpuStoreSettings, CodesTravelBetweenGpus) {
  open(2, {}, "device");
  must(store->setCompression({"2bit", 0.5F}));
  must(store->init("g", on({0}, 1600)[0]));
  const auto values = on({0, 1}, 1600);
  must(store->push("g", values));
  must(session->engine().waitForAll());
  auto owned = std::make_unique<MemorySink>();
  const MemorySink* const sink = owned.get();
  must(session->profiler().start(std::move(owned)));
  must(store->push("g", values));
  must(session->engine().waitForAll());
  must(session->profiler().flush());
  std::vector<std::string> found;
  for (const OperatorFacts& facts : sink->facts)
    if (facts.name != "DeleteVariable") found.push_back(facts.name + " " + facts.shapes);
  EXPECT_THAT(found, testing::UnorderedElementsAre("KVStoreCompress 1600->400,1600",
                                                   "KVStoreDecompress 400,400->1600", "Copy 400->400"));
}

// Weight 1 through the host, 1 + rank where memory is reached directly, and 2 where all such links have rank 0.
TEST_F(GpuStoreSettings, LinksOfGpusAreThoseOfTheDriver) {
  open(3, {}, "device");
  const int devices[] = {0, 1, 2};
  const auto weights = [&] { return kvstore::linksOf(gpus->fake, devices).weights; };
  gpus->fake.setLinks([](int a, int b) { return GpuLink{a + b == 2, a + b == 2 ? 2 : 1}; });
  EXPECT_EQ(weights(), (Floats{0, 1, 3, 1, 0, 1, 3, 1, 0}));
  gpus->fake.setLinks([](int a, int b) { return GpuLink{a + b == 1, 0}; });
  EXPECT_EQ(weights(), (Floats{0, 2, 1, 2, 0, 1, 1, 1, 0}));
  gpus->fake.setLinks([](int, int) { return GpuLink{}; });
  EXPECT_EQ(weights(), (Floats{0, 1, 1, 1, 0, 1, 1, 1, 0}));
}

// 0 - 3 and 1 - 2 are linked twice, 0 - 1 and 2 - 3 once, the others through the host.
TEST_F(GpuStoreSettings, TreesSumOverTheLinksOfGpus) {
  open(4, {{"MXNET_KVSTORE_USETREE", "1"}}, "device");
  gpus->fake.setLinks([](int a, int b) {
    const bool far = (a < 2) != (b < 2) && a + b != 3;  // through the host
    return GpuLink{!far, a + b == 3 ? 2 : 1};
  });
  must(store->init("g", on({0})[0]));
  must(store->push("g", on({0, 1, 2, 3})));
  const auto outputs = on({0, 1, 2, 3});
  must(store->pull("g", outputs));
  for (const NDArray& output : outputs) EXPECT_EQ(must(output.toVector()), (Floats{6, 6}));
}

TEST_F(GpuStoreSettings, NcclSumsAndReturnsWithOneCollectiveEach) {
  open(3, {}, "nccl");
  must(store->init("g", on({0})[0]));
  must(session->engine().waitForAll());
  const int copies = gpus->fake.copies();
  const auto values = on({2, 0, 1});
  for (int i = 0; i < 3; ++i) must(store->pushPull("g", values, {}));
  for (const NDArray& value : values) EXPECT_EQ(must(value.toVector()), (Floats{27, 27}));
  EXPECT_EQ(gpus->collectives.sums, 3);
  EXPECT_EQ(gpus->collectives.copies, 3);
  EXPECT_EQ(gpus->collectives.communicators, 1);
  // Those of fromValues() and toVector(), and at most one by which the key moved to its GPU.
  EXPECT_LE(gpus->fake.copies() - copies, 3 + 3 + 1);
}

TEST_F(GpuStoreSettings, NcclCopiesToArraysThatAreNotOneOnEachGpu) {
  open(3, {}, "nccl");
  must(store->init("g", on({0})[0]));
  must(store->push("g", on({0, 1, 2})));
  std::vector<NDArray> outputs = on({1, 1});
  outputs.push_back(NDArray::empty(*session, {2}));
  must(store->pull("g", outputs));
  for (const NDArray& output : outputs) EXPECT_EQ(must(output.toVector()), (Floats{3, 3}));
  EXPECT_EQ(gpus->collectives.copies, 0);
}

// A stream waits in a collective for the others: another order on another GPU would never end.
TEST_F(GpuStoreSettings, ListsOfGpusThatOverlapDoNotWaitForEachOther) {
  open(4, {{"MXNET_CPU_PRIORITY_NTHREADS", "4"}}, "nccl");
  const std::initializer_list<int> lists[] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 1, 2, 3}};
  std::vector<std::vector<NDArray>> outputs;
  for (int round = 0; round < 20; ++round) {
    for (int key = 0; key < 5; ++key) {
      const auto values = on(lists[key]);
      if (round == 0) must(store->init(key, values[0]));
      must(store->push(key, values));
      outputs.push_back(on(lists[key]));
      must(store->pull(key, outputs.back()));
    }
  }
  const float sums[] = {1, 3, 5, 3, 6};
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (const NDArray& output : outputs[i])
      EXPECT_EQ(must(output.toVector()), (Floats{sums[i % 5], sums[i % 5]})) << i;
  EXPECT_EQ(gpus->collectives.communicators, 5);
}

// What comes while a group is put on the streams starts together next, up to the setting: 1, then 5 and 2 of the other 7.
TEST_F(GpuStoreSettings, WhatComesMeanwhileStartsTogether) {
  constexpr int kCollectives = 8;
  for (const auto& [most, puts] : {std::pair(1, 8), std::pair(5, 3)}) {
    open(2, {{"MXNET_UPDATE_AGGREGATION_SIZE", std::to_string(most)}, {"MXNET_CPU_PRIORITY_NTHREADS", "4"}},
         "nccl");
    GpuExchange& exchange = *must(session->gpuExchange());
    const GpuExchange::Peers& peers = *must(exchange.peers({0, 1}));
    const auto arrays = on({0, 1});
    must(session->engine().waitForAll());
    const auto placeOf = [&](std::size_t i) {
      return static_cast<float*>(valueOf(arrays[i]).chunk->block.data());
    };
    const GpuCollective copy{.kind = GpuCollective::Kind::copy,
                             .root = 1,
                             .floats = 2,
                             .from = {nullptr, placeOf(1)},
                             .to = {placeOf(0), placeOf(1)}};
    std::atomic<int> came{0};
    std::atomic<bool> begun{false};
    gpus->before_put = [&came, &begun] {  // the first put lasts until all others have come
      if (begun.exchange(true)) return;
      while (came < kCollectives - 1) std::this_thread::yield();
    };
    for (int i = 0; i < kCollectives; ++i) {
      session->engine().push({.run =
                                  [&](const RunContext&, Completion completion) {
                                    exchange.run(peers, copy, std::move(completion));
                                    ++came;
                                  },
                              .operator_class = OperatorClass::prioritized});
      while (!begun) std::this_thread::yield();
    }
    must(session->engine().waitForAll());
    EXPECT_EQ(gpus->collectives.copies, kCollectives);
    EXPECT_EQ(gpus->collectives.puts, puts);
    EXPECT_EQ(gpus->collectives.most_together, most);
    EXPECT_EQ(must(arrays[0].toVector()), (Floats{1, 1}));
    gpus->before_put = {};
  }
}

TEST_F(GpuStoreSettings, WhatNcclRefusesIsTheErrorOfTheArrays) {
  open(2, {}, "nccl");
  must(store->init("g", on({0})[0]));
  const auto values = on({0, 1});
  gpus->error_of_put = "NCCL: ncclGroupEnd failed: unhandled cuda error";
  must(store->push("g", values));
  const NDArray out = NDArray::empty(*session, {2});
  must(store->pull("g", out));
  const Status waited = out.waitToRead();
  ASSERT_FALSE(waited.has_value());
  EXPECT_THAT(waited.error().message, testing::HasSubstr("ncclGroupEnd failed"));
}

TEST_F(GpuStoreSettings, NcclIsForArraysOfGpus) {
  open(2, {}, "nccl");
  must(store->init("g", on({0})[0]));
  const Status pushed = store->push("g", NDArray::fromValues(*session, {2}, Floats{1, 2}));
  ASSERT_FALSE(pushed.has_value());
  EXPECT_EQ(pushed.error().message,
            "key 'g': an array is on cpu(0); the store 'nccl' sums arrays of GPUs: use 'device' or 'local'");
  const Status compressed = store->setCompression({"2bit", 0.5F});
  ASSERT_FALSE(compressed.has_value());
  EXPECT_EQ(compressed.error().code, ErrorCode::unsupported);
}

TEST_F(GpuStoreSettings, WithoutTheLibraryThereIsNoStoreNccl) {
  open(1, {}, "device");
  gpus->error_of_library = "libnccl.so.2 cannot be opened";
  const auto refused = KVStore::create(*session, "nccl");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "kvstore 'nccl': libnccl.so.2 cannot be opened; 'device' and 'local' "
            "sum without NCCL");
}

TEST_F(GpuStoreSettings, TheTraceNamesTheLibrary) {
  open(2, {}, "nccl");
  auto owned = std::make_unique<MemorySink>();
  const MemorySink* const sink = owned.get();
  must(session->profiler().start(std::move(owned)));
  must(store->init("fc1_weight", on({0})[0]));
  must(store->pushPull("fc1_weight", on({0, 1}), {}));
  must(session->engine().waitForAll());
  must(session->profiler().flush());
  std::vector<std::string> found;
  for (const OperatorFacts& facts : sink->facts)
    if (facts.name.starts_with("KVStore"))
      found.push_back(facts.name + " " + facts.layer + ": " + facts.implementation);
  EXPECT_THAT(
      found, testing::UnorderedElementsAre("KVStoreReduce fc1_weight: 2 arrays to gpu/0, NCCL of a test",
                                           "KVStoreBroadcast fc1_weight: gpu/0 to 2 arrays, NCCL of a test"));
}

}  // namespace
}  // namespace pitwall::test::gpu_kvstore_test
