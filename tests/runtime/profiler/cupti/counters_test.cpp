// Hardware counters of kernels: their choice, by the real CUPTI where it is installed, and counting, with a fake one.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <thread>

#include "runtime/profiler/cupti/counter_choice.h"
#include "runtime/profiler/cupti/launch_call.h"
#include "tests/runtime/profiler/cupti/fake_counters.h"
#include "tests/runtime/profiler/cupti/fake_library.h"

namespace pitwall::cupti::counters_test {
namespace {

using fake_library::kSmall;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kOccupancy[] = "sm__warps_active.avg.pct_of_peak_sustained_active";

// CUPTI chooses without a driver, for any chip that it knows.
TEST(CuptiCounters, OnePassMeasuresThemOnRealChips) {
  void* library = nullptr;
  for (const char* path : {"libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13"})
    if (library == nullptr) library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) GTEST_SKIP() << "CUPTI of CUDA 13 is not installed";
  CounterFunctions cupti;
  ASSERT_TRUE(loadCounterFunctions(library, cupti));
  for (const char* chip : {"GA100", "GA102", "AD102", "GH100", "GB100", "GB202"}) {
    CounterChoice choice(cupti);
    ASSERT_EQ(choice.choose(chip, {}), CUPTI_SUCCESS) << chip;
    EXPECT_THAT(choice.names(), SizeIs(4)) << chip;
    EXPECT_STREQ(choice.names()[0], kOccupancy);
    EXPECT_FALSE(choice.configImage().empty());
  }
  CounterChoice of_turing(cupti);
  ASSERT_EQ(of_turing.choose("TU102", {}), CUPTI_SUCCESS);
  EXPECT_THAT(of_turing.names(), ElementsAre(testing::StrEq(kOccupancy))) << "the others need a second pass";
  CounterChoice without_memory(cupti);
  ASSERT_EQ(without_memory.choose("GB20B", {}), CUPTI_SUCCESS);
  EXPECT_THAT(without_memory.names(), ElementsAre(testing::StrEq(kOccupancy))) << "it has no dram counters";
  EXPECT_NE(CounterChoice(cupti).choose("no chip", {}), CUPTI_SUCCESS);
}

class CuptiKernelCounters : public fake_library::SessionWithFake {
 protected:
  void SetUp() override {
    SessionWithFake::SetUp();
    fake_counters::fake = &counters_;
    library_.counters = &functions_;
    ASSERT_TRUE(profiler_.start(std::make_unique<test::SharedSink>(kept_)).has_value());
  }

  std::unique_ptr<Session> open() {
    auto session = Session::open(library_, profiler_, Extent::counters, kSmall);
    EXPECT_TRUE(session.has_value());
    return session.has_value() ? std::move(*session) : nullptr;
  }

  void call(CUpti_ApiCallbackSite site, std::uint32_t correlation, const char* kernel = "_Z4gemmPfi") {
    cuLaunchKernel_params arguments{};
    arguments.gridDimX = 8, arguments.gridDimY = arguments.gridDimZ = 1;
    arguments.blockDimX = 256, arguments.blockDimY = arguments.blockDimZ = 1;
    arguments.sharedMemBytes = 1024;
    CUpti_CallbackData data{};
    data.callbackSite = site;
    data.context = context_;
    data.correlationId = correlation;
    data.symbolName = kernel;
    data.functionParams = &arguments;
    fake_.callback(fake_.userdata, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &data);
  }
  void launch(std::uint32_t correlation) {
    call(CUPTI_API_ENTER, correlation);
    call(CUPTI_API_EXIT, correlation);
  }
  std::vector<Event> kernels() const {
    std::vector<Event> kernels;
    for (const auto& [track, event] : kept_->memory.all_events)
      if (event.kind == EventKind::kernel) kernels.push_back(event);
    return kernels;
  }

  fake_counters::Fake counters_;
  const CounterFunctions functions_ = fake_counters::functions();
  CUcontext context_ = reinterpret_cast<CUcontext>(this);
};

TEST_F(CuptiKernelCounters, CountEachKernelInTheDocumentedOrder) {
  const auto session = open();
  EXPECT_EQ(fake_.enabled.count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 0U)
      << "it excludes the range profiler";
  EXPECT_EQ(fake_.enabled.count(CUPTI_ACTIVITY_KIND_RUNTIME), 1U);
  EXPECT_EQ(fake_.callbacks.count(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx), 1U);
  launch(5);
  launch(6);
  EXPECT_EQ(counters_.log,
            "initialize supported enable data config start stop decode evaluate data "
            "start stop decode evaluate data");
  session->close();
  EXPECT_EQ(counters_.enabled, 0);
  EXPECT_TRUE(session->notes().empty());
  EXPECT_TRUE(profiler_.stop().has_value());
  const test::MemorySink& trace = kept_->memory;
  ASSERT_THAT(kernels(), SizeIs(2));
  const Event kernel = kernels()[0];
  EXPECT_EQ(trace.strings.at(kernel.name.value - 1), "gemm(float*, int)");
  EXPECT_NE(kernel.correlation, 0U);
  const KernelFacts& facts = trace.kernels.at(kernel.kernel.value - 1);
  EXPECT_THAT(facts.grid, ElementsAre(8, 1, 1));
  EXPECT_THAT(facts.block, ElementsAre(256, 1, 1));
  EXPECT_EQ(facts.dynamic_shared_bytes, 1024);
  EXPECT_EQ(facts.theoretical_occupancy, 0) << "unknown: there is no driver to be asked";
  EXPECT_EQ(trace.meta_values.at("recorder.serialised_kernels"), "1");
  ASSERT_THAT(trace.all_counters, SizeIs(8));
  EXPECT_EQ(trace.all_counters[0].second.time_ns, kernel.start_ns);
  std::set<std::string> counters;
  for (const auto& [track, sample] : trace.all_counters)
    counters.insert(trace.tracks.at(track.value - 1).name + " " + std::to_string(sample.value).substr(0, 4));
  EXPECT_EQ(counters.count("gpu 0: " + std::string(kOccupancy) + " 37.5"), 1U);
  EXPECT_EQ(counters.count("gpu 0: dram__bytes.sum.pct_of_peak_sustained_elapsed 38.5"), 1U);
  EXPECT_THAT(counters, SizeIs(4));
}

TEST_F(CuptiKernelCounters, NothingIsCountedWithoutARecording) {
  const auto session = open();
  ASSERT_TRUE(profiler_.stop().has_value());
  launch(5);
  EXPECT_EQ(counters_.log, "");
}

// A kernel of NCCL ends when those of the other GPUs run, which may be launched next.
TEST_F(CuptiKernelCounters, KernelsThatWaitForOthersAreNotCounted) {
  const auto session = open();
  for (const char* kernel : {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "nvshmemi_transfer"}) {
    call(CUPTI_API_ENTER, 5, kernel);
    call(CUPTI_API_EXIT, 5, kernel);
  }
  EXPECT_EQ(counters_.log, "");
  launch(6);
  EXPECT_NE(counters_.log, "");
}

// What another thread launches while a counted kernel runs does not wait for its end.
TEST_F(CuptiKernelCounters, OtherThreadsLaunchMeanwhile) {
  const auto session = open();
  counters_.on_stop = [this] { std::thread([this] { launch(9); }).join(); };
  launch(5);
  session->close();
  EXPECT_TRUE(profiler_.stop().has_value());
  EXPECT_THAT(kernels(), SizeIs(1));
}

TEST_F(CuptiKernelCounters, KernelsOfCuptiItselfAreNotCounted) {
  const auto session = open();
  counters_.on_start = [this] { launch(50); };
  launch(5);
  session->close();
  EXPECT_TRUE(profiler_.stop().has_value());
  EXPECT_THAT(kernels(), SizeIs(1));
  EXPECT_TRUE(kept_->memory.losses.empty());
}

TEST_F(CuptiKernelCounters, WhatNeedsASecondPassIsLeftOut) {
  counters_.metrics_of_one_pass = 2;
  const auto session = open();
  launch(5);
  session->close();
  EXPECT_TRUE(profiler_.stop().has_value());
  EXPECT_THAT(kept_->memory.all_counters, SizeIs(2));
  EXPECT_EQ(counters_.hosts, 1) << "the others are released";
}

// The recording goes on without: with kernels as usual, and times that mean something.
TEST_F(CuptiKernelCounters, WithoutPermissionTheRestIsRecorded) {
  counters_.fails = "enable";
  counters_.with = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  const auto session = open();
  launch(5);
  launch(6);
  EXPECT_EQ(counters_.log, "initialize supported enable");
  EXPECT_EQ(fake_.enabled.count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 1U);
  EXPECT_EQ(fake_.enabled.count(CUPTI_ACTIVITY_KIND_MEMCPY), 1U);
  EXPECT_EQ(fake_.callbacks.count(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel), 0U);
  session->close();
  EXPECT_TRUE(fake_.enabled.empty());
  ASSERT_THAT(session->notes(), SizeIs(1));
  EXPECT_THAT(session->notes()[0], HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(session->notes()[0], HasSubstr("CAP_SYS_ADMIN"));
  EXPECT_TRUE(profiler_.stop().has_value());
  EXPECT_EQ(kept_->memory.meta_values.count("recorder.serialised_kernels"), 0U);
}

TEST_F(CuptiKernelCounters, EachFailureEndsThem) {
  for (const char* step :
       {"initialize", "supported", "enable", "data", "config", "start", "stop", "decode", "evaluate"}) {
    SCOPED_TRACE(step);
    counters_ = {};
    counters_.fails = step;
    const auto session = open();
    launch(5);
    launch(6);
    EXPECT_EQ(counters_.enabled, 0);
    EXPECT_EQ(counters_.log.find(step), counters_.log.rfind(step)) << "once: " << counters_.log;
    session->close();
    EXPECT_THAT(session->notes(),
                ElementsAre("hardware counters of GPUs are not recorded: CUPTI reports TEXT (999)"));
  }
  counters_ = {};
  counters_.support = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
  const auto session = open();
  launch(5);
  session->close();
  EXPECT_THAT(session->notes(), ElementsAre(HasSubstr("does not support them for this GPU")));
}

TEST_F(CuptiKernelCounters, ALibraryWithoutThem) {
  library_.counters = nullptr;
  const auto session = open();
  EXPECT_EQ(fake_.enabled.count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 1U);
  launch(5);
  session->close();
  EXPECT_THAT(session->notes(), ElementsAre(HasSubstr("not recorded")));
}

// Values that may be those of another kernel belong to none; a captured launch runs no kernel.
TEST_F(CuptiKernelCounters, OnlyASingleKernelHasValues) {
  const auto session = open();
  counters_.ranges = 2;
  launch(5);
  counters_.ranges = 0;
  launch(6);
  counters_.ranges = 1;
  call(CUPTI_API_ENTER, 7);
  launch(8);  // by another thread, meanwhile
  call(CUPTI_API_EXIT, 7);
  session->close();
  EXPECT_TRUE(profiler_.stop().has_value());
  EXPECT_THAT(kernels(), SizeIs(1));
  ASSERT_THAT(kept_->memory.losses, SizeIs(1));
  EXPECT_EQ(kept_->memory.losses[0].count, 2);
  EXPECT_THAT(kept_->memory.losses[0].reason, HasSubstr("several threads"));
}

TEST_F(CuptiKernelCounters, ContextsHaveTheirOwnUntilTheyEnd) {
  const auto session = open();
  launch(5);
  CUpti_ResourceData ended{};
  ended.context = context_;
  fake_.callback(fake_.userdata, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                 &ended);
  EXPECT_EQ(counters_.enabled, 0);
  launch(6);  // a new context, perhaps with the same address
  EXPECT_EQ(counters_.enabled, 1);
  // A launch is in progress when the recording ends.
  call(CUPTI_API_ENTER, 7);
  session->close();
  EXPECT_EQ(counters_.enabled, 1);
  call(CUPTI_API_EXIT, 7);
  EXPECT_EQ(counters_.enabled, 0);
}

TEST_F(CuptiKernelCounters, OfOneContextWhenAnotherIsRefused) {
  const auto session = open();
  launch(5);
  counters_.fails = "supported";
  context_ = reinterpret_cast<CUcontext>(&fake_);
  launch(6);
  context_ = reinterpret_cast<CUcontext>(this);
  launch(7);
  EXPECT_EQ(fake_.enabled.count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 0U);
  session->close();
  EXPECT_THAT(session->notes(), ElementsAre(HasSubstr("of some kernels are not recorded")));
  EXPECT_TRUE(profiler_.stop().has_value());
  EXPECT_THAT(kernels(), SizeIs(2));
}

TEST_F(CuptiKernelCounters, AreBounded) {
  KernelCounters counters(library_, 2);
  counters.begin(nullptr);
  CUpti_CallbackData data{};
  data.context = context_;
  for (std::uint32_t i = 1; i <= 3; ++i) {
    data.correlationId = i;
    data.callbackSite = CUPTI_API_ENTER;
    counters.onLaunch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, data);
    data.callbackSite = CUPTI_API_EXIT;
    counters.onLaunch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, data);
  }
  EXPECT_THAT(counters.take(), SizeIs(2));
  EXPECT_EQ(counters_.enabled, 0);
  EXPECT_EQ(fake_.callbacks.count(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel), 0U);
  EXPECT_FALSE(counters.isRefused());
  EXPECT_THAT(counters.notes(), ElementsAre("hardware counters were recorded of the first 2 kernels"));
}

TEST(CuptiLaunchCall, ArgumentsOfEachForm) {
  cuLaunchKernelEx_params extended{};
  CUlaunchConfig config{};
  config.gridDimX = 3, config.gridDimY = 2, config.gridDimZ = 1;
  config.blockDimX = 64, config.blockDimY = config.blockDimZ = 1;
  extended.config = &config;
  EXPECT_THAT(launchFactsOf(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &extended).grid, ElementsAre(3, 2, 1));
  EXPECT_THAT(launchFactsOf(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, &extended).block,
              ElementsAre(64, 1, 1));
  cuLaunchCooperativeKernel_params cooperative{};
  cooperative.gridDimX = 5;
  EXPECT_EQ(launchFactsOf(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, &cooperative).grid[0], 5);
  EXPECT_EQ(launchFactsOf(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, nullptr), LaunchFacts{});
  for (const CUpti_CallbackId id : launchCalls()) EXPECT_EQ(launchFactsOf(id, nullptr), LaunchFacts{});
}

}  // namespace
}  // namespace pitwall::cupti::counters_test
