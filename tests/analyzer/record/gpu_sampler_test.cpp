#include "analyzer/record/sample/gpu_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace pitwall::record::gpu_sampler_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Repeats until `enough` returns true; a busy machine may take long.
template <class Enough>
void waitFor(Enough enough) {
  for (int i = 0; i < 2000 && !enough(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST(GpuSampler, SamplesWhatTheDriverTells) {
  const TraceClock clock;
  GpuSampler sampler(clock, 10, PITWALL_FAKE_NVML);
  std::vector<SampledGpu> gpus;
  waitFor([&] { return !(gpus = sampler.take()).empty() && !gpus.back().series[2].samples.empty(); });
  EXPECT_EQ(sampler.note(), "");
  ASSERT_THAT(gpus, SizeIs(2));
  EXPECT_EQ(gpus[1].info.index, 1);
  EXPECT_EQ(gpus[1].info.name, "Some GPU");
  EXPECT_EQ(gpus[1].info.memory_bytes, Bytes{80} << 30);
  EXPECT_DOUBLE_EQ(gpus[0].link_bytes_per_second, 2 * 25e9);
  EXPECT_DOUBLE_EQ(gpus[1].link_bytes_per_second, 16 * 3.938e9);
  const auto& series = gpus[1].series;
  ASSERT_THAT(series, SizeIs(4));
  EXPECT_EQ(series[0].name, "gpu utilisation");
  EXPECT_DOUBLE_EQ(series[0].samples.at(0).value, 0.75);
  EXPECT_DOUBLE_EQ(series[1].samples.at(0).value, double(Bytes{2} << 30));
  EXPECT_DOUBLE_EQ(series[2].samples.at(0).value, 1.98e9);
  EXPECT_THAT(series[3].samples, IsEmpty());  // not reported
}

TEST(GpuSampler, WithoutADriverItSaysSo) {
  const TraceClock clock;
  GpuSampler none(clock, 10, "libpitwall-no-such-driver.so.1");
  waitFor([&] { return !none.note().empty(); });
  EXPECT_THAT(none.note(), HasSubstr("no GPU is sampled: there is no NVIDIA driver"));
  EXPECT_THAT(none.take(), IsEmpty());
  GpuSampler other(clock, 10, "libc.so.6");  // a library, but not that one
  waitFor([&] { return !other.note().empty(); });
  EXPECT_THAT(other.note(), HasSubstr("lacks required functions"));
}

}  // namespace
}  // namespace pitwall::record::gpu_sampler_test
