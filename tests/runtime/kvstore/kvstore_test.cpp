// What every kind of store does: values after pushes, keys, updaters, errors.
#include "runtime/kvstore.h"

#include <numeric>

#include "runtime/optimizer.h"
#include "tests/runtime/gpu/fake_gpu.h"
#include "tests/runtime/nn/nn_support.h"

namespace pitwall::test::kvstore_test {
namespace {

using Floats = std::vector<float>;
constexpr int kDevices = 4;

struct Kind {
  const char* type;
  SettingList settings = {};
  DeviceKind devices = DeviceKind::cpu;  // GPUs: threads of the host (fake_gpu.h)
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.type << " of " << toString(kind.devices);
  for (const auto& [name, value] : kind.settings) *out << ' ' << name << '=' << value;
}

const Kind kKinds[] = {
    {"local"},
    {"device"},
    {"local", {{"MXNET_ENGINE_TYPE", "NaiveEngine"}}},
    {"local", {{"MXNET_KVSTORE_BIGARRAY_BOUND", "1"}, {"MXNET_KVSTORE_REDUCTION_NTHREADS", "3"}}},
    {"device", {{"MXNET_KVSTORE_USETREE", "1"}}},
    {"device", {{"MXNET_KVSTORE_USETREE", "1"}, {"MXNET_KVSTORE_TREE_ARRAY_BOUND", "1"}}},
    {"local", {}, DeviceKind::gpu},
    {"device", {}, DeviceKind::gpu},
    {"device", {{"MXNET_KVSTORE_USETREE", "1"}}, DeviceKind::gpu},
    {"nccl", {}, DeviceKind::gpu},
    {"nccl", {{"MXNET_ENGINE_TYPE", "NaiveEngine"}}, DeviceKind::gpu}};

struct StoreTest : testing::TestWithParam<Kind> {
  NDArray full(const Shape& shape, float value, int device = 0) {
    return NDArray::fromValues(*session, shape, Floats(static_cast<std::size_t>(shape.elements()), value),
                               MemoryTag::data, at(device));
  }
  // Of each device one; device i has value + i.
  std::vector<NDArray> onDevices(const Shape& shape, float value, int devices = kDevices) {
    std::vector<NDArray> arrays;
    for (int i = 0; i < devices; ++i) arrays.push_back(full(shape, value + static_cast<float>(i), i));
    return arrays;
  }
  std::vector<NDArray> outputs(const Shape& shape, int devices = kDevices) {
    std::vector<NDArray> arrays;
    for (int i = 0; i < devices; ++i)
      arrays.push_back(NDArray::empty(*session, shape, MemoryTag::data, DType::float32, at(i)));
    return arrays;
  }
  Floats pulled(const StoreKey& key, const Shape& shape) {
    const NDArray out = NDArray::empty(*session, shape);
    must(store->pull(key, out));
    return must(out.toVector());
  }

  static Device at(int index) { return {GetParam().devices, index}; }

  std::shared_ptr<FakeGpuPlatform> gpus = std::make_shared<FakeGpuPlatform>(FakeGpuOptions{.devices = 8});
  std::unique_ptr<Session> session = must(Session::open(
      {.trace_path = "", .backend = "reference", .settings = GetParam().settings, .gpus = gpus}));
  std::unique_ptr<KVStore> store = must(KVStore::create(*session, GetParam().type));
};

INSTANTIATE_TEST_SUITE_P(Kinds, StoreTest, testing::ValuesIn(kKinds));

const Shape kShape{9, 5};
const Floats kOnes(45, 1);

Floats filled(float value) { return Floats(45, value); }

TEST_P(StoreTest, InitialValuesAreCopies) {
  NDArray value = full(kShape, 3);
  must(store->init(3, value));
  must(value.copyFrom(kOnes));
  EXPECT_EQ(pulled(3, kShape), filled(3));
}

TEST_P(StoreTest, APushReplacesTheContents) {
  must(store->init("a", full(kShape, 9)));
  must(store->push("a", full(kShape, 4)));
  EXPECT_EQ(pulled("a", kShape), filled(4));
  must(store->push("a", full(kShape, 1)));
  EXPECT_EQ(pulled("a", kShape), filled(1));
}

TEST_P(StoreTest, WhatWasPushedMayChangeAfterwards) {
  must(store->init("a", full(kShape, 9)));
  NDArray value = full(kShape, 4);
  must(store->push("a", value));
  must(value.copyFrom(kOnes));
  EXPECT_EQ(pulled("a", kShape), filled(4));
}

TEST_P(StoreTest, ValuesOfDevicesAreSummedAndReturnedToAll) {
  for (const int devices : {1, 2, 3, 4, 7}) {
    const StoreKey key(devices);
    must(store->init(key, full(kShape, 0)));
    must(store->push(key, onDevices(kShape, 1, devices)));
    const auto outs = outputs(kShape, devices);
    must(store->pull(key, outs));
    const float sum = static_cast<float>(devices * (devices + 1)) / 2;
    for (const NDArray& out : outs) EXPECT_EQ(must(out.toVector()), filled(sum)) << devices;
    EXPECT_EQ(outs[0].device(), at(0));
    must(store->pull(key, outs));  // again, into arrays that have contents
    EXPECT_EQ(must(outs.back().toVector()), filled(sum));
  }
}

TEST_P(StoreTest, SumsOfManySizesAreExact) {
  int key = 0;
  for (const Shape& shape : {Shape{1}, Shape{15}, Shape{16, 3}, Shape{100, 100}, Shape{41, 41, 41}}) {
    must(store->init(key, full(shape, 0)));
    std::vector<NDArray> values;
    Floats expected(static_cast<std::size_t>(shape.elements()), 0);
    for (int device = 0; device < kDevices; ++device) {
      Floats whole = numbers(shape.elements(), static_cast<std::uint32_t>(key * 10 + device));
      for (float& value : whole)
        value = std::round(value * 1000);  // sums of integers do not depend on the order
      std::transform(whole.begin(), whole.end(), expected.begin(), expected.begin(), std::plus<>());
      values.push_back(NDArray::fromValues(*session, shape, whole, MemoryTag::data, at(device)));
    }
    const auto outs = outputs(shape);
    must(store->pushPull(key, values, outs));
    for (const NDArray& out : outs) EXPECT_EQ(must(out.toVector()), expected) << shape.toString();
    ++key;
  }
}

TEST_P(StoreTest, PushPullInPlaceAndBroadcast) {
  const auto arrays = onDevices(kShape, 0);
  must(store->broadcast("w", full(kShape, 7), arrays));
  for (const NDArray& array : arrays) EXPECT_EQ(must(array.toVector()), filled(7));
  must(store->pushPull("w", arrays));
  for (const NDArray& array : arrays) EXPECT_EQ(must(array.toVector()), filled(28));
}

TEST_P(StoreTest, AnUpdaterGetsTheSumOfEachPush) {
  must(store->init("a", full(kShape, 0)));
  int calls = 0;
  must(store->setUpdater([&](const StoreKey& key, const NDArray& sum, NDArray& stored) -> Status {
    EXPECT_EQ(key.toString(), "a");
    ++calls;
    const auto added = op::add(stored, must(sum.copyTo(stored.device())));
    stored = must(added);
    return {};
  }));
  for (int push = 1; push <= 4; ++push)
    must(store->push("a", std::vector<NDArray>{full(kShape, 1, 0), full(kShape, 1, 1), full(kShape, 1, 2),
                                               full(kShape, 1, 3)}));
  EXPECT_EQ(pulled("a", kShape), filled(16));
  must(store->push("a", full(kShape, 1)));
  EXPECT_EQ(pulled("a", kShape), filled(17));
  EXPECT_EQ(calls, 5);
}

TEST_P(StoreTest, AnErrorOfTheUpdaterIsThatOfThePush) {
  must(store->init("a", full(kShape, 0)));
  must(store->setUpdater([](const StoreKey&, const NDArray&, NDArray&) -> Status {
    return fail(ErrorCode::invalidInput, "not today");
  }));
  const Status pushed = store->push("a", full(kShape, 1));
  ASSERT_FALSE(pushed.has_value());
  EXPECT_EQ(pushed.error().message, "not today");
}

// The store updates as the same optimizer does on one array.
TEST_P(StoreTest, OptimizersUpdateByTheSum) {
  const OptimizerChoice choices[] = {{"sgd", {{"learning_rate", 0.1F}}},
                                     {"sgd", {{"learning_rate", 0.1F}, {"momentum", 0.9F}, {"wd", 0.01F}}},
                                     {"nag", {{"learning_rate", 0.1F}, {"momentum", 0.5F}}},
                                     {"adam", {{"learning_rate", 0.01F}}}};
  int number = 0;
  for (const OptimizerChoice& choice : choices) {
    auto kv = must(KVStore::create(*session, GetParam().type));
    must(kv->setOptimizer(choice));
    kv->setBatchSize(8);
    const NDArray first = arrayOf(*session, kShape, 50);
    must(kv->init(number, first));
    auto alone = std::make_shared<nn::Parameter>();
    alone->value = must(first.copyTo(cpu(0)));
    alone->value.attachGradient();
    const auto optimizer = must(makeOptimizer(choice, {alone}));
    for (std::uint32_t step = 0; step < 3; ++step) {
      std::vector<NDArray> gradients;
      Floats sum(45, 0);
      for (int device = 0; device < kDevices; ++device) {
        const Floats part = numbers(45, 60 + step * 10 + static_cast<std::uint32_t>(device));
        std::transform(part.begin(), part.end(), sum.begin(), sum.begin(), std::plus<>());
        gradients.push_back(NDArray::fromValues(*session, kShape, part, MemoryTag::gradients, at(device)));
      }
      must(kv->push(number, gradients));
      must(alone->value.gradient().copyFrom(sum));
      must(optimizer->step(8));
    }
    const NDArray out = NDArray::empty(*session, kShape, MemoryTag::data, DType::float32, at(2));
    must(kv->pull(number, out));
    const Floats of_store = must(out.toVector()), expected = must(alone->value.toVector());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(of_store[i], expected[i], 1e-6) << choice.name << ' ' << i;
    ++number;
  }
}

TEST_P(StoreTest, RatesApplyToLaterUpdates) {
  store->setRate(1);
  must(store->setOptimizer({"sgd", {{"learning_rate", 0.5F}}}));
  must(store->init(0, full(kShape, 10)));
  must(store->push(0, full(kShape, 1)));
  EXPECT_EQ(pulled(0, kShape), filled(9)) << "a rate that was set before";
  store->setRate(2);
  must(store->push(0, full(kShape, 1)));
  EXPECT_EQ(pulled(0, kShape), filled(7));
}

TEST_P(StoreTest, RowsArePulledAndPushed) {
  const Shape shape{4, 3};
  Floats values(12);
  std::iota(values.begin(), values.end(), 0.0F);
  must(store->init("e", NDArray::fromValues(*session, shape, values)));
  const StoreRows wanted[] = {
      {{2, 0}, NDArray::empty(*session, {2, 3})},
      {{3}, NDArray::empty(*session, {1, 3}, MemoryTag::data, DType::float32, at(1))}};
  must(store->pullRows("e", wanted));
  EXPECT_EQ(must(wanted[0].values.toVector()), (Floats{6, 7, 8, 0, 1, 2}));
  EXPECT_EQ(must(wanted[1].values.toVector()), (Floats{9, 10, 11}));

  const StoreRows pushed[] = {{{1, 1}, full({2, 3}, 2)}, {{3, 1}, full({2, 3}, 5, 1)}};
  must(store->pushRows("e", pushed));
  EXPECT_EQ(pulled("e", shape), (Floats{0, 0, 0, 9, 9, 9, 0, 0, 0, 5, 5, 5}));

  must(store->setOptimizer({"sgd", {{"learning_rate", 1}}}));
  must(store->pushRows("e", std::span(pushed, 1)));
  EXPECT_EQ(pulled("e", shape), (Floats{0, 0, 0, 5, 5, 5, 0, 0, 0, 5, 5, 5}));
}

TEST_P(StoreTest, WrongRowsAreErrors) {
  must(store->init("e", full({4, 3}, 0)));
  const auto messageOf = [&](const StoreRows& rows) {
    const Status status = store->pullRows("e", std::span(&rows, 1));
    return status.has_value() ? "" : status.error().message;
  };
  EXPECT_EQ(messageOf({{4}, NDArray::empty(*session, {1, 3})}), "key 'e' has 4 rows, no row 4");
  EXPECT_EQ(messageOf({{-1}, NDArray::empty(*session, {1, 3})}), "key 'e' has 4 rows, no row -1");
  EXPECT_EQ(messageOf({{0, 1}, NDArray::empty(*session, {1, 3})}),
            "key 'e': 2 rows need an array of float32 of shape 2x3");
}

TEST_P(StoreTest, KeysAreCheckedByName) {
  const auto messageOf = [](const Status& status) {
    return status.has_value() ? std::string() : status.error().message;
  };
  EXPECT_EQ(messageOf(store->push("a", full(kShape, 1))), "the store has no key 'a'; call init() first");
  must(store->init("a", full(kShape, 1)));
  EXPECT_NE(messageOf(store->init("a", full(kShape, 1))).find("key 'a' exists already"), std::string::npos);
  EXPECT_NE(messageOf(store->init(1, full(kShape, 1))).find("Mixed key types are not allowed"),
            std::string::npos);
  EXPECT_NE(messageOf(store->push(1, full(kShape, 1))).find("Mixed key types"), std::string::npos);
  EXPECT_EQ(messageOf(store->pull("b", full(kShape, 1))), "the store has no key 'b'; call init() first");
  EXPECT_EQ(messageOf(store->push("a", full({3}, 1))), "key 'a' has shape 9x5, an array 3");
  EXPECT_EQ(messageOf(store->push("a", std::span<const NDArray>())), "key 'a': no array is given");
  EXPECT_EQ(messageOf(store->push("a", NDArray())), "key 'a': an array is an empty handle");
  EXPECT_NE(messageOf(store->init("i", NDArray::empty(*session, {2}, MemoryTag::data, DType::int32)))
                .find("a store has arrays of float32"),
            std::string::npos);
}

TEST_P(StoreTest, AnArrayThatWasNeverWrittenFailsTheWait) {
  must(store->init("a", full(kShape, 1)));
  must(store->push("a", std::vector<NDArray>{full(kShape, 1), outputs(kShape, 2)[1]}));
  const NDArray out = NDArray::empty(*session, kShape);
  must(store->pull("a", out));
  const Status waited = out.waitToRead();
  ASSERT_FALSE(waited.has_value());
  EXPECT_NE(waited.error().message.find(toString(at(1)) + " was never written"), std::string::npos)
      << waited.error().message;
}

TEST_P(StoreTest, AReshapedArrayKeepsItsOrder) {
  must(store->init("a", full(kShape, 1)));
  const NDArray out = NDArray::empty(*session, {45});
  const NDArray view = must(out.reshape(kShape));
  must(store->push("a", must(arrayOf(*session, kShape, 3).copyTo(at(0)))));
  must(store->pull("a", view));
  EXPECT_EQ(must(out.toVector()), numbers(45, 3));
}

}  // namespace
}  // namespace pitwall::test::kvstore_test
