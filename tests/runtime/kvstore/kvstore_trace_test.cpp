// What the trace holds of a store: each operator with its key, bytes, devices and priority.
#include <set>

#include "runtime/kvstore.h"
#include "tests/runtime/nn/nn_support.h"
#include "tests/support/memory_sink.h"

namespace pitwall::test::kvstore_trace_test {
namespace {

struct StoreRecording : testing::Test {
  void start(SettingList settings = {}) {
    session = openSession("reference", std::move(settings));
    auto owned = std::make_unique<MemorySink>();
    sink = owned.get();  // until the recording stops
    must(session->profiler().start(std::move(owned)));
  }
  std::vector<NDArray> arrays(std::int64_t count) {
    std::vector<NDArray> all;
    for (int device = 0; device < 2; ++device)
      all.push_back(NDArray::fromValues(*session, {count}, numbers(count, 1), MemoryTag::data, cpu(device)));
    return all;
  }
  void finish() {
    must(session->engine().waitForAll());
    must(session->profiler().flush());
  }
  // The facts of the operators with this name, in the order of their events.
  std::vector<OperatorFacts> factsOf(const std::string& name) const {
    std::vector<OperatorFacts> facts;
    for (const auto& [track, event] : sink->all_events)
      if (event.kind == EventKind::operatorRun && sink->text(event.name) == name)
        facts.push_back(sink->facts.at(event.op.value - 1));
    return facts;
  }

  std::unique_ptr<Session> session;
  MemorySink* sink = nullptr;
};

TEST_F(StoreRecording, SumsAndCopiesNameKeyBytesAndDevices) {
  start();
  const auto store = must(KVStore::create(*session, "local"));
  must(store->init("fc1_weight", NDArray::zeros(*session, {10})));
  const auto values = arrays(10);
  must(store->push("fc1_weight", values));
  must(store->pull("fc1_weight", values));
  finish();
  const auto sums = factsOf("KVStoreReduce");
  ASSERT_EQ(sums.size(), 1U);
  EXPECT_EQ(sums[0].layer, "fc1_weight");
  EXPECT_EQ(sums[0].shapes, "10,10->10");
  EXPECT_EQ(sums[0].implementation, "2 arrays to cpu/0");
  EXPECT_EQ(sums[0].bytes_read, 80);
  EXPECT_EQ(sums[0].bytes_written, 40);
  EXPECT_EQ(sums[0].phase, Phase::update);
  const auto copies = factsOf("KVStoreBroadcast");
  ASSERT_EQ(copies.size(), 2U);
  std::set<std::string> ways = {copies[0].implementation, copies[1].implementation};
  EXPECT_EQ(ways, (std::set<std::string>{"cpu/0 to cpu/0", "cpu/0 to cpu/1"}));
  EXPECT_EQ(copies[1].bytes_written, 40);
}

TEST_F(StoreRecording, CompressionIsRecordedWithTheBytesThatAreSent) {
  start();
  const auto store = must(KVStore::create(*session, "device"));
  must(store->setCompression({"2bit", 0.5F}));
  must(store->init("g", NDArray::zeros(*session, {160})));
  must(store->push("g", arrays(160)));
  finish();
  const auto compressed = factsOf("KVStoreCompress");
  ASSERT_EQ(compressed.size(), 2U);
  EXPECT_EQ(compressed[0].bytes_read, 640);
  EXPECT_EQ(compressed[0].bytes_written, 40 + 640) << "codes, and what is kept";
  const auto sums = factsOf("KVStoreDecompress");
  ASSERT_EQ(sums.size(), 1U);
  EXPECT_EQ(sums[0].bytes_read, 80);
  EXPECT_EQ(sums[0].layer, "g");
}

TEST_F(StoreRecording, BigArraysAreSummedByTheThreadsThatSettingsSay) {
  const auto implementation = [&](const SettingList& settings) {
    start(settings);
    const auto store = must(KVStore::create(*session, "local"));
    must(store->init("g", NDArray::zeros(*session, {100})));
    must(store->push("g", arrays(100)));
    finish();
    return factsOf("KVStoreReduce").at(0).implementation;
  };
  const std::string threads = "MXNET_KVSTORE_REDUCTION_NTHREADS", bound = "MXNET_KVSTORE_BIGARRAY_BOUND";
  EXPECT_EQ(implementation({}), "2 arrays to cpu/0") << "the default bound is a million";
  EXPECT_EQ(implementation({{bound, "101"}, {threads, "2"}}), "2 arrays to cpu/0");
  if (session->operatorThreads() < 2) GTEST_SKIP() << "operators may use one thread here";
  EXPECT_EQ(implementation({{bound, "100"}, {threads, "2"}}), "2 arrays to cpu/0, 2 threads");
  EXPECT_EQ(implementation({{bound, "100"}, {threads, "1"}}), "2 arrays to cpu/0");
}

TEST_F(StoreRecording, RowsAreSummedByOneThreadWhereThatIsSet) {
  const auto implementation = [&](const char* serial) {
    start({{"MXNET_KVSTORE_BIGARRAY_BOUND", "1"}, {"MXNET_KVSTORE_SERIAL_PUSH", serial}});
    const auto store = must(KVStore::create(*session, "local"));
    must(store->init("g", NDArray::zeros(*session, {100, 2})));
    const StoreRows rows{{1, 99}, NDArray::zeros(*session, {2, 2})};
    must(store->pushRows("g", std::span(&rows, 1)));
    finish();
    return factsOf("KVStoreReduceRows").at(0).implementation;
  };
  EXPECT_EQ(implementation("1"), "cpu/0 to cpu/0");
  if (session->operatorThreads() < 2) GTEST_SKIP() << "operators may use one thread here";
  EXPECT_NE(implementation("0"), "cpu/0 to cpu/0");
}

TEST_F(StoreRecording, AlongTreesEachStepIsRecorded) {
  start({{"MXNET_KVSTORE_USETREE", "1"}});
  const auto store = must(KVStore::create(*session, "device"));
  must(store->init("g", NDArray::zeros(*session, {16})));
  std::vector<NDArray> values;
  for (int device = 0; device < 4; ++device)
    values.push_back(NDArray::fromValues(*session, {16}, numbers(16, 1), MemoryTag::data, cpu(device)));
  must(store->pushPull("g", values));
  finish();
  EXPECT_EQ(factsOf("KVStoreReduce").size(), 3U);
  EXPECT_EQ(factsOf("KVStoreBroadcast").size(), 4U);
}

TEST_F(StoreRecording, TreesAndTheirSearchFollowTheSettings) {
  const auto printed = [&](const SettingList& more) {
    SettingList settings = {{"MXNET_KVSTORE_USETREE", "1"}, {"MXNET_KVSTORE_LOGTREE", "1"}};
    settings.insert(settings.end(), more.begin(), more.end());
    start(settings);
    const auto store = must(KVStore::create(*session, "device"));
    must(store->init("g", NDArray::zeros(*session, {100})));
    testing::internal::CaptureStderr();
    must(store->push("g", arrays(100)));
    finish();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(printed({}).find("links between 2 devices:\n0 1\n1 0\nusing Kernighan-Lin"), std::string::npos);
  EXPECT_EQ(factsOf("KVStoreReduce").size(), 1U);
  EXPECT_NE(printed({{"MXNET_KVSTORE_TREE_BACKTRACK", "1"}}).find("using backtracking"), std::string::npos);
  EXPECT_EQ(printed({{"MXNET_KVSTORE_LOGTREE", "0"}}), "");
  (void)printed({{"MXNET_KVSTORE_TREE_ARRAY_BOUND", "99"}});
  EXPECT_EQ(factsOf("KVStoreReduce").size(), 2U)
      << "an array above the bound is spread over the trees of both";
}

TEST_F(StoreRecording, TheKindIsAFact) {
  start();
  const auto store = must(KVStore::create(*session, "device"));
  finish();
  EXPECT_EQ(sink->meta_values.at("mxnet.kvstore"), "device");
}

}  // namespace
}  // namespace pitwall::test::kvstore_trace_test
