// End to end on a GPU: as many kernels, copies and launches in the trace as were made, joined, in order.
// Skipped where there is none. The kernel is PTX text.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "db/torch_ranges.h"
#include "runtime/profiler/cupti/collector.h"
#include "tests/runtime/profiler/cupti/gpu_driver.h"
#include "tests/runtime/profiler/shared_sink.h"

namespace pitwall::cupti::gpu_test {
namespace {

constexpr char kPtx[] = R"(
.version 7.0
.target sm_52
.address_size 64
.visible .entry add_one(.param .u64 data) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [data];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd2], %r2;
  ret;
}
)";

TEST(CuptiGpu, KernelsCopiesAndLaunches) {
  test::GpuDriver driver;
  if (const std::string missing = driver.missing(); !missing.empty()) GTEST_SKIP() << missing;
  const auto kept = std::make_shared<test::Kept>();
  Profiler profiler;
  ASSERT_TRUE(profiler.start(std::make_unique<test::SharedSink>(kept)).has_value());
  if (const Status status = attach(profiler); !status.has_value()) GTEST_SKIP() << status.error().message;

  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr data = 0;
  ASSERT_TRUE(driver.useFirst());
  ASSERT_EQ(driver.loadModule(&module, kPtx), CUDA_SUCCESS);
  ASSERT_EQ(driver.getFunction(&function, module, "add_one"), CUDA_SUCCESS);
  ASSERT_EQ(driver.alloc(&data, 4096), CUDA_SUCCESS);
  const std::vector<std::uint32_t> host(1024, 5);
  constexpr int kLaunches = 100, kCopies = 10;
  constexpr CorrelationId kOperator = 42;
  {
    const OperatorScope scope(kOperator);
    for (int i = 0; i < kCopies; ++i) ASSERT_EQ(driver.copy(data, host.data(), 4096, nullptr), CUDA_SUCCESS);
    void* arguments[] = {&data};
    for (int i = 0; i < kLaunches; ++i)
      ASSERT_EQ(driver.launch(function, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  }
  ASSERT_EQ(driver.synchronize(), CUDA_SUCCESS);
  detach();
  ASSERT_TRUE(profiler.stop().has_value());

  const test::MemorySink& trace = kept->memory;
  std::map<CorrelationId, const Event*> by_correlation;
  int kernels = 0, copies = 0, launches = 0, of_operator = 0;
  for (const auto& [track, event] : trace.all_events) {
    const std::string& name = trace.strings.at(event.name.value - 1);
    if (event.kind == EventKind::kernel && name == "add_one") ++kernels;
    if (event.kind == EventKind::copy && name.rfind("Memcpy HtoD", 0) == 0) ++copies;
    if (event.kind == EventKind::api && name.rfind("cuLaunchKernel", 0) == 0) ++launches;
    if (event.correlation != 0) by_correlation[event.correlation] = &event;
  }
  EXPECT_EQ(kernels, kLaunches);
  ASSERT_FALSE(trace.kernels.empty());
  for (const KernelFacts& facts : trace.kernels) EXPECT_GT(facts.theoretical_occupancy, 0);
  EXPECT_TRUE(trace.meta_values.contains("device.gpu.0.num_sms"));
  EXPECT_EQ(copies, kCopies);
  EXPECT_EQ(launches, kLaunches);
  int joined = 0;
  for (const Dependency& dependency : trace.all_dependencies) {
    if (dependency.source == kOperator) ++of_operator;
    const auto call = by_correlation.find(dependency.source);
    const auto work = by_correlation.find(dependency.target);
    if (call == by_correlation.end() || work == by_correlation.end()) continue;
    if (work->second->kind != EventKind::kernel) continue;
    ++joined;
    EXPECT_GE(work->second->start_ns, call->second->start_ns) << "a kernel before its launch";
  }
  EXPECT_EQ(joined, kLaunches);
  EXPECT_GE(of_operator, kLaunches + kCopies);
  EXPECT_TRUE(trace.losses.empty());
}

// One kernel after the other, in a recording of `extent`, on managed memory. What was not recorded. Precondition: a GPU.
std::string recordKernels(test::GpuDriver& driver, Extent extent, int launches,
                          const std::shared_ptr<test::Kept>& kept) {
  Profiler profiler;
  if (!profiler.start(std::make_unique<test::SharedSink>(kept)).has_value()) return "no recording";
  if (const Status status = attach(profiler, extent); !status.has_value()) return status.error().message;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr data = 0;
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  if (!driver.useFirst() || driver.loadModule(&module, kPtx) != CUDA_SUCCESS ||
      driver.getFunction(&function, module, "add_one") != CUDA_SUCCESS ||
      driver.allocManaged(&data, kBytes, CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS)
    return "no kernel or no managed memory";
  std::memset(reinterpret_cast<void*>(data), 1, kBytes);
  void* arguments[] = {&data};
  for (int i = 0; i < launches; ++i)
    (void)driver.launch(function, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr);
  (void)driver.synchronize();
  detach();
  const std::string notes = takeNotes();
  EXPECT_TRUE(profiler.stop().has_value());
  return notes;
}

TEST(CuptiGpu, MigrationsOfManagedMemory) {
  const auto kept = std::make_shared<test::Kept>();
  test::GpuDriver driver;
  if (const std::string missing = driver.missing(); !missing.empty()) GTEST_SKIP() << missing;
  const std::string notes = recordKernels(driver, Extent::managed, 1, kept);
  if (notes.find("NOT_SUPPORTED") != std::string::npos) GTEST_SKIP() << notes;
  ASSERT_EQ(notes, "");
  int migrations = 0;
  for (const auto& [track, event] : kept->memory.all_events) {
    const std::string& name = kept->memory.strings.at(event.name.value - 1);
    if (name.rfind("Memcpy UVM HtoD", 0) != 0) continue;
    ++migrations;
    EXPECT_GT(event.value, 0);
  }
  EXPECT_GE(migrations, 1);
  EXPECT_TRUE(kept->memory.losses.empty()) << "times of another clock?";
}

TEST(CuptiGpu, HardwareCountersOfKernels) {
  const auto kept = std::make_shared<test::Kept>();
  constexpr int kLaunches = 3;
  test::GpuDriver driver;
  if (const std::string missing = driver.missing(); !missing.empty()) GTEST_SKIP() << missing;
  const std::string notes = recordKernels(driver, Extent::counters, kLaunches, kept);
  for (const char* const reason : {"administrators only", "does not support them for this GPU"})
    if (notes.find(reason) != std::string::npos) GTEST_SKIP() << notes;
  ASSERT_EQ(notes, "");
  int kernels = 0, samples = 0;
  for (const auto& [track, event] : kept->memory.all_events)
    kernels += event.kind == EventKind::kernel ? 1 : 0;
  EXPECT_EQ(kernels, kLaunches);
  for (const KernelFacts& facts : kept->memory.kernels) EXPECT_GT(facts.theoretical_occupancy, 0);
  for (const auto& [track, sample] : kept->memory.all_counters) {
    const std::string& name = kept->memory.tracks.at(track.value - 1).name;
    if (name != "gpu 0: " + std::string(kWarpsActive)) continue;
    ++samples;
    EXPECT_GT(sample.value, 0);
    EXPECT_LE(sample.value, 100);
  }
  EXPECT_EQ(samples, kLaunches);
}

}  // namespace
}  // namespace pitwall::cupti::gpu_test
