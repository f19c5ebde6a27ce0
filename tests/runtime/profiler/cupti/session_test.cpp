// A session with a fake CUPTI: the calls that the session makes, and its handling of the results.
#include "runtime/profiler/cupti/session.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime/profiler/cupti/collector.h"
#include "tests/runtime/profiler/cupti/fake_library.h"

namespace pitwall::cupti::session_test {
namespace {

using fake_library::kSmall;
using ::testing::HasSubstr;

using CuptiSession = fake_library::SessionWithFake;

TEST_F(CuptiSession, WhatIsDeliveredIsInTheTrace) {
  ASSERT_TRUE(profiler_.start(std::make_unique<test::SharedSink>(kept_)).has_value());
  auto session = Session::open(library_, profiler_, Extent::everything, kSmall);
  ASSERT_TRUE(session.has_value()) << session.error().message;
  EXPECT_TRUE(fake_.timestamps_came_first);
  EXPECT_TRUE((*session)->notes().empty());
  deliver(3);
  fake_.dropped = 2;
  deliver(1);
  (*session)->close();
  EXPECT_TRUE(fake_.enabled.empty());
  EXPECT_GT(fake_.flushes, 0);
  EXPECT_TRUE(profiler_.stop().has_value());
  int calls = 0;
  for (const auto& [track, event] : kept_->memory.all_events) calls += event.kind == EventKind::api ? 1 : 0;
  EXPECT_EQ(calls, 4);
  ASSERT_EQ(kept_->memory.losses.size(), 1U);
  EXPECT_EQ(kept_->memory.losses[0].count, 2);
  EXPECT_EQ(kept_->memory.losses[0].reason, "CUPTI dropped records");
}

// A program, and the runtime itself, asks thousands of times whether work is done.
TEST_F(CuptiSession, QueriesAreNotRecorded) {
  const auto session = Session::open(library_, profiler_, Extent::everything, kSmall);
  ASSERT_TRUE(session.has_value());
  EXPECT_FALSE(fake_.records_unfinished_queries);
  for (const int id :
       {CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_ptsz_v7000})
    EXPECT_EQ(fake_.quiet_runtime_calls.count(id), 1U) << id;
  for (const int id : {CUPTI_DRIVER_TRACE_CBID_cuEventQuery, CUPTI_DRIVER_TRACE_CBID_cuStreamQuery})
    EXPECT_EQ(fake_.driver_calls.count(id), 0U) << id;
}

TEST_F(CuptiSession, KernelsAloneComeWithoutCalls) {
  const auto session = Session::open(library_, profiler_, Extent::kernels, kSmall);
  ASSERT_TRUE(session.has_value());
  EXPECT_EQ(fake_.enabled, (std::set<int>{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_DEVICE,
                                          CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_MEMCPY,
                                          CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
                                          CUPTI_ACTIVITY_KIND_GRAPH_TRACE}));
  EXPECT_TRUE(fake_.driver_calls.empty());
  EXPECT_EQ(extentOf("kernels"), Extent::kernels);
  EXPECT_EQ(extentOf("counters"), Extent::counters);
  EXPECT_EQ(extentOf("managed"), Extent::managed);
  EXPECT_EQ(extentOf("1"), Extent::everything);
  EXPECT_EQ(extentOf(""), Extent::everything);
  EXPECT_EQ(extentOf("0"), std::nullopt);
}

// Also records of buffers that are not full.
TEST_F(CuptiSession, WhatIsCompleteIsTakenMeanwhile) {
  ASSERT_TRUE(profiler_.start(std::make_unique<test::SharedSink>(kept_)).has_value());
  auto session = Session::open(library_, profiler_, Extent::everything, kSmall);
  ASSERT_TRUE(session.has_value());
  EXPECT_TRUE(profiler_.flush().has_value());
  const int first = fake_.flushes;
  EXPECT_GT(first, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(profiler_.flush().has_value());
  EXPECT_GT(fake_.flushes, first);
  EXPECT_EQ(fake_.forced_flushes, 0);
  EXPECT_TRUE(profiler_.stop().has_value());
  EXPECT_GT(fake_.forced_flushes, 0);
}

// CUPTI is removed on the way back from a call of CUDA, once.
TEST_F(CuptiSession, DetachesAtTheReturnFromACall) {
  auto session = Session::open(library_, profiler_, Extent::everything, kSmall);
  ASSERT_TRUE(session.has_value());
  EXPECT_FALSE(fake_.watches_calls);
  (*session)->close();
  EXPECT_TRUE(fake_.watches_calls);
  CUpti_CallbackData call;
  std::memset(&call, 0, sizeof call);
  call.callbackSite = CUPTI_API_ENTER;
  fake_.callback(fake_.userdata, CUPTI_CB_DOMAIN_RUNTIME_API, 1, &call);
  EXPECT_EQ(fake_.finalized, 0);
  call.callbackSite = CUPTI_API_EXIT;
  fake_.callback(fake_.userdata, CUPTI_CB_DOMAIN_RUNTIME_API, 1, &call);
  fake_.callback(fake_.userdata, CUPTI_CB_DOMAIN_RUNTIME_API, 1, &call);
  EXPECT_EQ(fake_.finalized, 1);
  EXPECT_EQ(fake_.subscribed, 0);
}

// At the end of the process CUPTI is not called again, and what it still delivers does no harm.
TEST_F(CuptiSession, FinishedItDoesNotCallCupti) {
  ASSERT_TRUE(profiler_.start(std::make_unique<test::SharedSink>(kept_)).has_value());
  auto session = Session::open(library_, profiler_, Extent::everything, kSmall);
  ASSERT_TRUE(session.has_value());
  deliver(3);
  (*session)->finish();
  const int flushes = fake_.flushes;
  fake_.finalised = true;
  for (int i = 0; i < 100; ++i) deliver(2);
  (*session)->close();
  (*session)->finish();
  EXPECT_TRUE(profiler_.stop().has_value());
  int calls = 0;
  for (const auto& [track, event] : kept_->memory.all_events) calls += event.kind == EventKind::api ? 1 : 0;
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(fake_.flushes, flushes);
  EXPECT_FALSE(fake_.watches_calls);
  EXPECT_EQ(fake_.calls_after_the_end, 0);
}

// A later session records again.
TEST_F(CuptiSession, AttachesLateAndAgain) {
  {
    auto first = Session::open(library_, profiler_, Extent::everything, kSmall);
    ASSERT_TRUE(first.has_value());
  }
  ASSERT_TRUE(profiler_.start(std::make_unique<test::SharedSink>(kept_)).has_value());
  auto second = Session::open(library_, profiler_, Extent::everything, kSmall);
  ASSERT_TRUE(second.has_value());
  deliver(1);
  EXPECT_TRUE(profiler_.stop().has_value());
  int calls = 0;
  for (const auto& [track, event] : kept_->memory.all_events) calls += event.kind == EventKind::api ? 1 : 0;
  EXPECT_EQ(calls, 1);
}

TEST_F(CuptiSession, WhenNoBufferIsFreeItGetsNone) {
  ASSERT_TRUE(profiler_.start(std::make_unique<test::SharedSink>(kept_)).has_value());
  auto session = Session::open(library_, profiler_, Extent::everything, kSmall);
  ASSERT_TRUE(session.has_value());
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, most = 0;
  std::vector<std::uint8_t*> taken;
  for (;;) {
    fake_.request(&buffer, &size, &most);
    if (buffer == nullptr) break;
    EXPECT_EQ(std::count(buffer, buffer + 4096, 0), 4096);
    taken.push_back(buffer);
    ASSERT_LT(taken.size(), 1000U);
  }
  EXPECT_EQ(size, 0U);
  fake_.dropped = 7;
  fake_.complete(nullptr, 0, taken[0], 8, 0);
  EXPECT_TRUE(profiler_.stop().has_value());
  ASSERT_EQ(kept_->memory.losses.size(), 1U);
  EXPECT_EQ(kept_->memory.losses[0].reason, "CUPTI dropped records: no buffer was free");
}

// Another tool that registers its functions gets the buffers that CUPTI has, and later ones.
TEST_F(CuptiSession, ATakeoverByAnotherToolIsReported) {
  ASSERT_TRUE(profiler_.start(std::make_unique<test::SharedSink>(kept_)).has_value());
  auto session = Session::open(library_, profiler_, Extent::everything, kSmall);
  ASSERT_TRUE(session.has_value());
  deliver(2);
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, most = 0;
  fake_.request(&buffer, &size, &most);
  std::uint8_t others[64] = {1};
  fake_.complete(nullptr, 0, others, sizeof others, sizeof others);  // of a tool before this one
  (*session)->finish();
  ASSERT_EQ((*session)->notes().size(), 1U);
  EXPECT_THAT((*session)->notes()[0], HasSubstr("took CUPTI over"));
  EXPECT_TRUE(profiler_.stop().has_value());
  EXPECT_EQ(others[0], 1);
  int calls = 0;
  for (const auto& [track, event] : kept_->memory.all_events) calls += event.kind == EventKind::api ? 1 : 0;
  EXPECT_EQ(calls, 2);
}

// A program that records again and again does not keep the memory of each recording.
TEST(CuptiBuffers, RetiredTheyAreFreedWhenTheyAreNotInUse) {
  Buffers buffers(kSmall);
  std::uint8_t* const lent = buffers.take();
  std::uint8_t* const full = buffers.take();
  buffers.filled(full, 8);
  buffers.retire();
  EXPECT_EQ(buffers.take(), nullptr);
  const auto filled = buffers.takeFilled();
  ASSERT_EQ(filled.size(), 1U);
  EXPECT_EQ(filled[0].data, full);
  buffers.giveBack(filled[0]);
  EXPECT_EQ(buffers.take(), nullptr);
  EXPECT_EQ(buffers.lent(), 1U);
  buffers.close();
  buffers.filled(lent, 8);
  EXPECT_EQ(buffers.lent(), 0U);
  EXPECT_TRUE(buffers.takeFilled().empty());
}

TEST_F(CuptiSession, ABufferThatCameBackIsNoTakeover) {
  auto session = Session::open(library_, profiler_, Extent::everything, kSmall);
  ASSERT_TRUE(session.has_value());
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, most = 0;
  fake_.request(&buffer, &size, &most);
  fake_.on_flush = [&] { fake_.complete(nullptr, 0, buffer, size, 0); };
  (*session)->finish();
  EXPECT_TRUE((*session)->notes().empty());
}

TEST_F(CuptiSession, SentencesForWhatStandsInTheWay) {
  const auto sentence = [this] {
    const auto session = Session::open(library_, profiler_, Extent::everything, kSmall);
    EXPECT_FALSE(session.has_value());
    return session.has_value() ? "" : session.error().message;
  };
  fake_.subscribe = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  EXPECT_THAT(sentence(), HasSubstr("another tool uses CUPTI"));
  EXPECT_EQ(fake_.request, nullptr);  // the other tool's buffers are left alone
  fake_.subscribe = CUPTI_ERROR_NOT_INITIALIZED;
  EXPECT_THAT(sentence(), HasSubstr("no usable GPU"));
  fake_.subscribe = CUPTI_ERROR_UNKNOWN;
  EXPECT_THAT(sentence(), HasSubstr("CUPTI reports TEXT (999)"));
  fake_.subscribe = CUPTI_SUCCESS;
  fake_.kernels = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  EXPECT_THAT(sentence(), HasSubstr("administrators"));
  EXPECT_EQ(fake_.subscribed, 0);
}

TEST_F(CuptiSession, WhatIsRefusedIsDoneWithout) {
  fake_.refused = {CUPTI_ACTIVITY_KIND_MEMORY2};
  const auto session = Session::open(library_, profiler_, Extent::everything, kSmall);
  ASSERT_TRUE(session.has_value());
  EXPECT_THAT((*session)->notes(), ::testing::ElementsAre("CUPTI does not record memory here"));
  EXPECT_EQ(fake_.enabled.count(CUPTI_ACTIVITY_KIND_MEMCPY), 1U);
}

TEST(CuptiDriver, Obstacles) {
  EXPECT_THAT(driverProblem(0, 13000), HasSubstr("no NVIDIA driver"));
  EXPECT_THAT(driverProblem(12040, 13000), HasSubstr("supports CUDA 12.4, CUPTI needs 13.0"));
  EXPECT_EQ(driverProblem(13000, 13000), "");
  EXPECT_EQ(driverProblem(14010, 13000), "");
}

// On any machine: a sentence or success, without a crash.
TEST(CuptiCollector, OnThisMachine) {
  Profiler profiler;
  const Status status = attach(profiler);
  if (!status.has_value()) {
    EXPECT_THAT(status.error().message, HasSubstr("GPU activity is not recorded"));
  }
  EXPECT_EQ(isAttached(), status.has_value());
  { const OperatorScope scope(1); }
  detach();
  detach();
  EXPECT_FALSE(isAttached());
}

}  // namespace
}  // namespace pitwall::cupti::session_test
