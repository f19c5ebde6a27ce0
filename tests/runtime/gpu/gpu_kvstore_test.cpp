// Key-value stores of arrays on GPUs that are threads of the host (fake_gpu.h).
#include <gmock/gmock.h>

#include "runtime/kvstore.h"
#include "tests/runtime/gpu/fake_gpu.h"
#include "tests/runtime/nn/nn_support.h"

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

INSTANTIATE_TEST_SUITE_P(Kinds, GpuStore, testing::Values("local", "device"),
                         [](const auto& kind) { return std::string(kind.param); });

struct GpuStoreRefusals : testing::Test {
  std::shared_ptr<FakeGpuPlatform> gpus = std::make_shared<FakeGpuPlatform>(FakeGpuOptions{.devices = 2});
  // Of a push of two arrays to a store with these settings.
  std::string errorOf(SettingList settings, float threshold) {
    const auto session = must(Session::open(
        {.trace_path = "", .backend = "reference", .settings = std::move(settings), .gpus = gpus}));
    const auto store = must(KVStore::create(*session, "device"));
    if (threshold > 0) must(store->setCompression({"2bit", threshold}));
    std::vector<NDArray> values;
    for (int i = 0; i < 2; ++i)
      values.push_back(NDArray::fromValues(*session, {2}, Floats{1, 2}, MemoryTag::data, gpu(i)));
    must(store->init("g", values[0]));
    const Status pushed = store->push("g", values);
    const Status all = session->engine().waitForAll();
    return !pushed.has_value() ? pushed.error().message : all.has_value() ? "" : all.error().message;
  }
};

TEST_F(GpuStoreRefusals, TreesAndCompression) {
  EXPECT_THAT(errorOf({{"MXNET_KVSTORE_USETREE", "1"}}, 0),
              testing::HasSubstr("key 'g': an array is on gpu("));
  EXPECT_THAT(errorOf({}, 0.5F), testing::HasSubstr("without trees of links, compression"));
}

}  // namespace
}  // namespace pitwall::test::gpu_kvstore_test
