// NCCL itself, as far as it works without GPUs.
#include "runtime/backend/cuda/collectives.h"

#include <gmock/gmock.h>

#include "runtime/devices.h"

namespace pitwall::test::collectives_test {
namespace {

struct Nccl : testing::Test {
  void SetUp() override {
    const auto version = cuda::collectivesVersion();
    if (!version.has_value()) {
      EXPECT_THAT(version.error().message, testing::HasSubstr("install NCCL 2"));
      GTEST_SKIP() << version.error().message;
    }
    EXPECT_THAT(*version, testing::StartsWith("NCCL 2."));
  }
};

TEST_F(Nccl, WithoutGpusItsErrorNamesTheCallAndWhereMoreIsSaid) {
  if (gpuInfo().has_value()) GTEST_SKIP() << "this machine has GPUs";
  const int devices[] = {0, 1};
  const auto opened = cuda::openCollectives(devices);
  ASSERT_FALSE(opened.has_value());
  EXPECT_THAT(opened.error().message, testing::StartsWith("NCCL: ncclCommInitAll of 2 GPUs failed: "));
  EXPECT_THAT(opened.error().message, testing::HasSubstr("NCCL_DEBUG=INFO"));
}

// Of one GPU: a sum is its array.
TEST_F(Nccl, SumsAndCopiesOnOneGpu) {
  const auto gpus = gpuInfo();
  if (!gpus.has_value()) GTEST_SKIP() << gpus.error().message;
  const auto platform = openGpuPlatform().value();
  GpuDriver& driver = platform->driver();
  ASSERT_TRUE(driver.use(0).has_value());
  const GpuStream stream = driver.createStream().value();
  constexpr Bytes kBytes = 4 * sizeof(float);
  auto* const from = static_cast<float*>(driver.allocate(0, kBytes));
  auto* const to = static_cast<float*>(driver.allocate(0, kBytes));
  const float values[] = {1, 2, 3, 4};
  const int devices[] = {0};
  {
    const auto collectives = platform->openCollectives(devices).value();
    for (const auto kind : {GpuCollective::Kind::sum, GpuCollective::Kind::copy}) {
      ASSERT_TRUE(driver.copy(from, values, kBytes, stream).has_value());
      ASSERT_TRUE(driver.fill(to, 0, 4, stream).has_value());
      const GpuCollective one{.kind = kind, .root = 0, .floats = 4, .from = {from}, .to = {to}};
      const Status put = collectives->put(std::span(&one, 1), std::span(&stream, 1));
      ASSERT_TRUE(put.has_value()) << put.error().message;
      float result[4] = {};
      ASSERT_TRUE(driver.copy(result, to, kBytes, stream).has_value());
      ASSERT_TRUE(driver.synchronize(stream).has_value());
      EXPECT_THAT(result, testing::ElementsAreArray(values));
    }
  }
  driver.free(0, from);
  driver.free(0, to);
  driver.destroyStream(stream);
}

}  // namespace
}  // namespace pitwall::test::collectives_test
