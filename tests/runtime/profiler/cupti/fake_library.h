// A session's CUPTI for tests: a table of functions that record how they are called.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <set>

#include "runtime/profiler/cupti/session.h"
#include "tests/runtime/profiler/shared_sink.h"

namespace pitwall::cupti::fake_library {

struct Fake {
  CUptiResult subscribe = CUPTI_SUCCESS;
  CUptiResult kernels = CUPTI_SUCCESS;
  std::set<int> refused;
  std::set<int> enabled, quiet_runtime_calls, driver_calls;
  bool records_unfinished_queries = true;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  CUpti_TimestampCallbackFunc timestamp = nullptr;
  CUpti_CallbackFunc callback = nullptr;
  void* userdata = nullptr;
  bool timestamps_came_first = false;
  bool watches_calls = false;
  int subscribed = 0, finalized = 0;
  std::atomic<int> flushes{0}, forced_flushes{0};
  std::function<void()> on_flush;
  bool finalised = false;  // the library
  int calls_after_the_end = 0;
  std::size_t dropped = 0;
  CUptiResult configure = CUPTI_SUCCESS;  // unified memory
  std::set<int> counters;                 // of unified memory
  bool waits_for_driver = false;
  std::set<int> callbacks;  // of the driver
};
inline Fake* fake = nullptr;
inline constexpr BufferPlan kSmall{.count = 4, .bytes = 64 << 10};

inline CUptiResult fakeNext(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  fake->calls_after_the_end += fake->finalised ? 1 : 0;
  // Records of one kind only, back to back.
  auto* next =
      *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + sizeof(CUpti_ActivityAPI);
  if (next + sizeof(CUpti_ActivityAPI) > buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

// Subscribing, names.
inline void fakeCallbacks(Library& l) {
  l.subscribe = [](CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* userdata) {
    *handle = nullptr;
    fake->callback = callback, fake->userdata = userdata;
    if (fake->subscribe == CUPTI_SUCCESS) ++fake->subscribed;
    return fake->subscribe;
  };
  l.unsubscribe = [](CUpti_SubscriberHandle) { return --fake->subscribed, CUPTI_SUCCESS; };
  l.enableDomain = [](std::uint32_t on, CUpti_SubscriberHandle, CUpti_CallbackDomain) {
    return fake->watches_calls = on != 0, CUPTI_SUCCESS;
  };
  l.enableCallback = [](std::uint32_t on, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                        CUpti_CallbackId id) {
    const int call = static_cast<int>(id);
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && on != 0) fake->callbacks.insert(call);
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && on == 0) fake->callbacks.erase(call);
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED)
      fake->waits_for_driver = on != 0;
    return CUPTI_SUCCESS;
  };
  l.getDeviceId = [](CUcontext, std::uint32_t* device) { return *device = 0, CUPTI_SUCCESS; };
  l.getCallbackName = [](CUpti_CallbackDomain, std::uint32_t, const char** name) {
    return *name = "cudaMalloc_v3020", CUPTI_SUCCESS;
  };
  l.getResultString = [](CUptiResult, const char** text) { return *text = "TEXT", CUPTI_SUCCESS; };
  l.finalize = [] { return ++fake->finalized, CUPTI_SUCCESS; };
}

// What is recorded.
inline void fakeKinds(Library& l) {
  l.activityEnable = [](CUpti_ActivityKind kind) {
    if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && fake->kernels != CUPTI_SUCCESS) return fake->kernels;
    if (fake->refused.count(kind) != 0) return CUPTI_ERROR_NOT_SUPPORTED;
    if (fake->enabled.empty()) fake->timestamps_came_first = fake->timestamp != nullptr;
    return fake->enabled.insert(kind), CUPTI_SUCCESS;
  };
  l.activityDisable = [](CUpti_ActivityKind kind) { return fake->enabled.erase(kind), CUPTI_SUCCESS; };
  l.configureUnifiedMemory = [](CUpti_ActivityUnifiedMemoryCounterConfig* counters, std::uint32_t count) {
    if (fake->configure != CUPTI_SUCCESS) return fake->configure;
    EXPECT_EQ(fake->enabled.count(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER), 0U);
    for (std::uint32_t i = 0; i < count; ++i)
      if (counters[i].enable != 0) fake->counters.insert(counters[i].kind);
    return CUPTI_SUCCESS;
  };
  l.enableRuntimeApi = [](CUpti_CallbackId id, std::uint8_t on) {
    if (on == 0) fake->quiet_runtime_calls.insert(static_cast<int>(id));
    return CUPTI_SUCCESS;
  };
  l.enableDriverApi = [](CUpti_CallbackId id, std::uint8_t on) {
    if (on != 0) fake->driver_calls.insert(static_cast<int>(id));
    return CUPTI_SUCCESS;
  };
  l.enableAllSyncRecords = [](std::uint8_t on) {
    return fake->records_unfinished_queries = on != 0, CUPTI_SUCCESS;
  };
  l.setAttribute = [](CUpti_ActivityAttribute, std::size_t*, void*) { return CUPTI_SUCCESS; };
  l.setThreadIdType = [](CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; };
}

// Buffers and their records.
inline void fakeRecords(Library& l) {
  l.registerCallbacks = [](CUpti_BuffersCallbackRequestFunc request,
                           CUpti_BuffersCallbackCompleteFunc complete) {
    fake->request = request, fake->complete = complete;
    return CUPTI_SUCCESS;
  };
  l.registerTimestampCallback = [](CUpti_TimestampCallbackFunc f) {
    return fake->timestamp = f, CUPTI_SUCCESS;
  };
  l.flushAll = [](std::uint32_t flag) {
    fake->forced_flushes += flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED ? 1 : 0;
    ++fake->flushes;
    if (fake->on_flush) fake->on_flush();
    return CUPTI_SUCCESS;
  };
  l.flushPeriod = [](std::uint32_t) { return CUPTI_SUCCESS; };
  l.getNextRecord = fakeNext;
  l.getNumDroppedRecords = [](CUcontext, std::uint32_t, std::size_t* count) {
    fake->calls_after_the_end += fake->finalised ? 1 : 0;
    return *count = fake->dropped, CUPTI_SUCCESS;
  };
}

inline Library fakeLibrary() {
  Library l;
  fakeCallbacks(l);
  fakeKinds(l);
  fakeRecords(l);
  return l;
}

class SessionWithFake : public ::testing::Test {
 protected:
  void SetUp() override { fake = &fake_; }

  // What CUPTI would do when `count` calls were recorded.
  void deliver(int count) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, most = 0;
    fake_.request(&buffer, &size, &most);
    ASSERT_NE(buffer, nullptr);
    for (int i = 0; i < count; ++i) {
      CUpti_ActivityAPI record;
      std::memset(&record, 0, sizeof record);
      record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
      record.start = fake_.timestamp();
      record.end = fake_.timestamp();
      record.correlationId = static_cast<std::uint32_t>(i + 1);
      std::memcpy(buffer + static_cast<std::size_t>(i) * sizeof record, &record, sizeof record);
    }
    fake_.complete(nullptr, 0, buffer, size, static_cast<std::size_t>(count) * sizeof(CUpti_ActivityAPI));
  }

  Fake fake_;
  Library library_ = fakeLibrary();
  std::shared_ptr<test::Kept> kept_ = std::make_shared<test::Kept>();
  Profiler profiler_;
};

}  // namespace pitwall::cupti::fake_library
