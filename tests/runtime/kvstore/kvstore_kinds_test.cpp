// Kinds by name, compression, and where a store sums.
#include "runtime/kvstore.h"
#include "tests/runtime/nn/nn_support.h"

namespace pitwall::test::kvstore_kinds_test {
namespace {

using Floats = std::vector<float>;

struct KindsTest : testing::Test {
  std::vector<NDArray> onDevices(float value, int devices) {
    std::vector<NDArray> arrays;
    for (int i = 0; i < devices; ++i)
      arrays.push_back(NDArray::fromValues(*session, {2}, Floats{value, -value}, MemoryTag::data, cpu(i)));
    return arrays;
  }
  std::string refusal(const char* type) {
    const auto store = KVStore::create(*session, type);
    return store.has_value() ? "" : store.error().message;
  }
  Bytes liveBytes(int device) { return must(session->storage(cpu(device)))->total().live_bytes; }

  std::unique_ptr<Session> session = openSession("reference");
};

TEST_F(KindsTest, TheTypeIsTheNameAsGiven) {
  for (const char* type :
       {"local", "device", "local_allreduce_cpu", "local_allreduce_device", "Local_Update_CPU"}) {
    const auto store = must(KVStore::create(*session, type));
    EXPECT_EQ(store->type(), type);
    EXPECT_EQ(store->rank(), 0);
    EXPECT_EQ(store->workers(), 1);
    EXPECT_TRUE(store->canOptimize());
    EXPECT_TRUE(store->barrier().has_value());
  }
}

TEST_F(KindsTest, OtherNamesAreRefused) {
  EXPECT_NE(refusal("locl").find("no such kind; there are local"), std::string::npos);
  EXPECT_NE(refusal("").find("no such kind"), std::string::npos);
  // This machine has no GPU, or no NCCL, or both.
  const std::string nccl = refusal("nccl");
  EXPECT_TRUE(nccl.empty() || nccl.starts_with("kvstore 'nccl': ")) << nccl;
  if (!nccl.empty()) {
    EXPECT_NE(nccl.find("; 'device' and 'local' sum without NCCL"), std::string::npos) << nccl;
  }
}

TEST_F(KindsTest, WrongOptimizersAreRefused) {
  const auto store = must(KVStore::create(*session));
  const Status unknown = store->setOptimizer({"adagrad", {}});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().message, "no optimizer 'adagrad'; there are sgd, nag and adam");
  const Status option = store->setOptimizer({"sgd", {{"beta1", 1}}});
  ASSERT_FALSE(option.has_value());
  EXPECT_EQ(option.error().message,
            "optimizer sgd: no option 'beta1'; it has learning_rate, momentum, wd, multi_precision");
}

TEST_F(KindsTest, CompressionIsForKindsThatSend) {
  const auto messageOf = [](const Status& status) {
    return status.has_value() ? std::string() : status.error().message;
  };
  const auto local = must(KVStore::create(*session, "local"));
  EXPECT_NE(messageOf(local->setCompression({"2bit", 0.5F})).find("use 'device'"), std::string::npos);
  EXPECT_EQ(messageOf(local->setCompression({})), "");
  const auto device = must(KVStore::create(*session, "device"));
  EXPECT_EQ(messageOf(device->setCompression({"1bit", 0.5F})), "compression '1bit': must be none or 2bit");
  EXPECT_EQ(messageOf(device->setCompression({"2bit", 0})),
            "compression: the threshold 0 must be greater than 0");
  EXPECT_EQ(messageOf(device->setCompression({"2bit", 2})), "");
}

// Of each device: 0.4 is kept; with 0.1 more the threshold is sent; pulls are not compressed.
TEST_F(KindsTest, WhatCompressionDoesNotSendIsAddedToTheNextPush) {
  const auto store = must(KVStore::create(*session, "device"));
  must(store->setCompression({"2bit", 0.5F}));
  must(store->init("g", NDArray::fromValues(*session, {2}, Floats{0.3F, 0.2F})));
  const NDArray out = NDArray::empty(*session, {2});
  const auto pulled = [&] {
    must(store->pull("g", out));
    return must(out.toVector());
  };
  EXPECT_EQ(pulled(), (Floats{0.3F, 0.2F})) << "first contents are not compressed";
  const auto pushed = [&](float value) {
    must(store->push("g", onDevices(value, 4)));
    return pulled();
  };
  EXPECT_EQ(pushed(0.4F), (Floats{0, 0}));
  EXPECT_EQ(pushed(0.1F), (Floats{2, -2}));
  EXPECT_EQ(pushed(0), (Floats{0, 0}));
  EXPECT_EQ(pushed(5), (Floats{2, -2}));
  EXPECT_EQ(pushed(-4.5F), (Floats{0, 0})) << "what was left of 5";
}

TEST_F(KindsTest, CompressionAppliesToASingleValue) {
  const auto store = must(KVStore::create(*session, "device"));
  must(store->setCompression({"2bit", 1}));
  must(store->setOptimizer({"sgd", {{"learning_rate", 1}}}));
  must(store->init("g", NDArray::fromValues(*session, {2}, Floats{0, 0})));
  const NDArray out = NDArray::empty(*session, {2});
  must(store->push("g", onDevices(3, 1)[0]));
  must(store->pull("g", out));
  EXPECT_EQ(must(out.toVector()), (Floats{-1, 1}));
}

// The largest key goes first; each to the device with the least so far.
TEST_F(KindsTest, DeviceSpreadsKeysBySize) {
  const auto store = must(KVStore::create(*session, "device"));
  const std::int64_t sizes[] = {100, 1000, 300, 600};
  for (int key = 0; key < 4; ++key) must(store->init(key, NDArray::zeros(*session, {sizes[key]})));
  for (int key = 0; key < 4; ++key) {
    std::vector<NDArray> values;
    for (int device = 0; device < 2; ++device)
      values.push_back(NDArray::zeros(*session, {sizes[key]}, MemoryTag::data, cpu(device)));
    must(store->push(key, values));
  }
  must(session->engine().waitForAll());
  EXPECT_EQ(liveBytes(0), (1000) * 4) << "the first key; the others fill the other device up to it";
  EXPECT_EQ(liveBytes(1), (600 + 300 + 100) * 4);
}

TEST_F(KindsTest, LocalKeepsKeysOnTheHost) {
  const auto store = must(KVStore::create(*session, "local"));
  must(store->init(0, NDArray::zeros(*session, {100}, MemoryTag::weights, cpu(1))));
  must(store->push(0, NDArray::zeros(*session, {100}, MemoryTag::data, cpu(1))));
  must(session->engine().waitForAll());
  EXPECT_EQ(liveBytes(0), 400);
  EXPECT_EQ(liveBytes(1), 0);
}

TEST_F(KindsTest, TreesTakeNoCompression) {
  session = openSession("reference", {{"MXNET_KVSTORE_USETREE", "1"}});
  const auto store = must(KVStore::create(*session, "device"));
  const Status set = store->setCompression({"2bit", 0.5F});
  ASSERT_FALSE(set.has_value());
  EXPECT_NE(set.error().message.find("MXNET_KVSTORE_USETREE=0"), std::string::npos);
}

}  // namespace
}  // namespace pitwall::test::kvstore_kinds_test
