// A CUPTI without a GPU: libcupti.so.13 for programs that test how a recording begins and ends. Strict where the real
// one crashes: it ends the process when it is called after it was finalised, in a forked child, or, to be removed,
// while CUDA is taken down.
#include <cupti.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <utility>

#include "tests/runtime/profiler/cupti/fake/fake.h"

namespace {

using fake_cuda::Call;

constexpr std::size_t kKeptBytes = 64 << 10;

struct Buffer {
  std::uint8_t* data = nullptr;
  std::size_t size = 0, used = 0;
};

std::recursive_mutex g_mutex;
CUpti_CallbackFunc g_callback = nullptr;
void* g_userdata = nullptr;
std::bitset<256> g_kinds,
    g_domains;  // as they are used until the last handler has run, nothing here has a destructor
CUpti_BuffersCallbackRequestFunc g_request = nullptr;
CUpti_BuffersCallbackCompleteFunc g_complete = nullptr;
CUpti_TimestampCallbackFunc g_timestamp = nullptr;
bool g_watches_start = false, g_watches_launches = false;
Buffer g_buffer;
std::size_t g_dropped = 0;
std::uint32_t g_calls = 0;
bool g_finalised = false, g_taking_down = false, g_initialised = false;
pid_t g_pid = 0;

[[noreturn]] void refuse(const char* what) {
  (void)fprintf(stderr, "fake CUPTI: %s\n", what);
  std::abort();
}

using Lock = std::lock_guard<std::recursive_mutex>;

void check() {
  if (g_pid == 0) g_pid = getpid();
  if (getpid() != g_pid) refuse("called in a forked child");
  if (g_finalised) refuse("called after it was finalised");
}

std::uint64_t now() {
  if (g_timestamp != nullptr) return g_timestamp();
  std::timespec t{};
  (void)clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

void deliver() {
  const Buffer buffer = std::exchange(g_buffer, {});
  if (buffer.data != nullptr) g_complete(nullptr, 0, buffer.data, buffer.size, buffer.used);
}

template <class Record>
void put(const Record& record) {
  if (g_request == nullptr || !g_kinds.test(record.kind)) return;
  if (g_buffer.data != nullptr && g_buffer.used + sizeof record > std::min(g_buffer.size, kKeptBytes))
    deliver();
  if (g_buffer.data == nullptr) {
    std::size_t most = 0;
    g_request(&g_buffer.data, &g_buffer.size, &most);
    if (g_buffer.data == nullptr) return void(++g_dropped);
  }
  std::memcpy(g_buffer.data + g_buffer.used, &record, sizeof record);
  g_buffer.used += sizeof record;
}

template <class Record>
Record blank(CUpti_ActivityKind kind) {
  Record record;
  std::memset(&record, 0, sizeof record);
  record.kind = kind;
  return record;
}

void callBack(CUpti_ApiCallbackSite site) {
  const bool is_watched = g_domains.test(CUPTI_CB_DOMAIN_DRIVER_API) || g_watches_launches;
  if (g_callback == nullptr || !is_watched) return;
  cuLaunchKernel_params arguments;
  std::memset(&arguments, 0, sizeof arguments);
  arguments.gridDimX = arguments.gridDimY = arguments.gridDimZ = 1;
  arguments.blockDimX = 256;
  arguments.blockDimY = arguments.blockDimZ = 1;
  CUpti_CallbackData call;
  std::memset(&call, 0, sizeof call);
  call.callbackSite = site;
  call.correlationId = g_calls;
  call.symbolName = "fake_kernel";
  call.functionParams = &arguments;
  g_callback(g_userdata, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call);
}

// What the real library does when the process ends: destructors of libraries that were loaded earlier come later.
// Its worker may still have a buffer to return.
void finalise() {
  const Lock lock(g_mutex);
  if (g_pid == getpid()) {
    put(blank<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER));
    deliver();
  }
  g_finalised = true;
}

__attribute__((constructor)) void onLoad() { (void)std::atexit(finalise); }

std::size_t sizeOf(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER: return sizeof(CUpti_ActivityUnifiedMemoryCounter3);
    default: return sizeof(CUpti_ActivityAPI);
  }
}

// What is attached while the driver starts is called back when it has.
void initialise() {
  g_initialised = true;
  if (g_callback != nullptr && g_watches_start)
    g_callback(g_userdata, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, nullptr);
}

// A page of managed memory, in a time that a report would see.
void migrate(CUpti_ActivityUnifiedMemoryMigrationCause cause) {
  auto record = blank<CUpti_ActivityUnifiedMemoryCounter3>(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  record.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
  record.start = now();
  const timespec time{0, 100'000};
  (void)nanosleep(&time, nullptr);
  record.end = now();
  record.value = 65536;
  record.srcId = CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID;
  record.flags = cause;
  put(record);
}

}  // namespace

bool fake_cuda::recordsKernels() { return g_kinds.test(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL); }

extern "C" {

void fakeCuptiObserve(Call kind) {
  const Lock lock(g_mutex);
  switch (kind) {
    case Call::initialised: return initialise();
    case Call::migrate: return migrate(CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE);
    case Call::prefetch: return migrate(CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_USER);
    case Call::takeDown: g_taking_down = true; break;
    case Call::launch: break;
  }
  ++g_calls;
  callBack(CUPTI_API_ENTER);
  auto call = blank<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER);
  call.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
  call.correlationId = g_calls;
  call.start = now();
  auto kernel = blank<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.name = "fake_kernel";
  kernel.gridX = kernel.gridY = kernel.gridZ = kernel.blockY = kernel.blockZ = 1;
  kernel.blockX = 256;
  kernel.registersPerThread = 64;
  kernel.correlationId = g_calls;
  kernel.start = now();
  kernel.end = call.end = now() + 1;
  if (kind == Call::launch) {
    put(call);
    put(kernel);
  }
  callBack(CUPTI_API_EXIT);
}

// Another tool in the process begins to record, as PyTorch's profiler does: it cannot subscribe, but gets the buffers.
void fakeCuptiTakeOver() {
  static std::uint8_t memory[1 << 20];
  const Lock lock(g_mutex);
  g_request = [](std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
    *buffer = memory, *size = sizeof memory, *most = 0;
  };
  g_complete = [](CUcontext, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) {};
}

CUptiResult cuptiGetDeviceId(CUcontext, std::uint32_t* device) { return *device = 0, CUPTI_SUCCESS; }
CUptiResult cuptiGetVersion(std::uint32_t* version) { return *version = CUPTI_API_VERSION, CUPTI_SUCCESS; }
CUptiResult cuptiGetResultString(CUptiResult, const char** text) { return *text = "TEXT", CUPTI_SUCCESS; }
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, std::uint32_t, const char** name) {
  check();
  return *name = "cuLaunchKernel", CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* userdata) {
  const Lock lock(g_mutex);
  check();
  if (g_callback != nullptr || std::getenv("FAKE_CUPTI_TAKEN") != nullptr)
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  g_callback = callback;
  g_userdata = userdata;
  *handle = nullptr;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  const Lock lock(g_mutex);
  check();
  g_callback = nullptr;
  g_domains.reset();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableDomain(std::uint32_t on, CUpti_SubscriberHandle, CUpti_CallbackDomain domain) {
  const Lock lock(g_mutex);
  check();
  if (on != 0) return g_domains.set(domain), CUPTI_SUCCESS;
  return g_domains.reset(domain), CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(std::uint32_t on, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
  const Lock lock(g_mutex);
  check();
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED)
    g_watches_start = on != 0;
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
    g_watches_launches = on != 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig*,
                                                       std::uint32_t) {
  const Lock lock(g_mutex);
  check();
  if (!g_initialised) return CUPTI_ERROR_NOT_INITIALIZED;
  if (g_kinds.test(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)) refuse("configured after it was enabled");
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const Lock lock(g_mutex);
  check();
  return g_kinds.set(kind), CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const Lock lock(g_mutex);
  check();
  return g_kinds.reset(kind), CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, std::uint8_t on) {
  return on != 0 ? cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER) : CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  const Lock lock(g_mutex);
  check();
  g_request = request;
  g_complete = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc timestamp) {
  const Lock lock(g_mutex);
  check();
  return g_timestamp = timestamp, CUPTI_SUCCESS;
}
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, std::size_t*, void*) {
  return check(), CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  const Lock lock(g_mutex);
  check();
  return deliver(), CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushPeriod(std::uint32_t) { return check(), CUPTI_SUCCESS; }
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  check();
  auto* const next =
      *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + sizeOf(**record);
  if (next + sizeof(CUpti_Activity) > buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  return *record = reinterpret_cast<CUpti_Activity*>(next), CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  const Lock lock(g_mutex);
  check();
  return *dropped = std::exchange(g_dropped, 0), CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind, std::uint64_t) {
  return check(), CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind, std::uint64_t* id) {
  return check(), *id = 0, CUPTI_SUCCESS;
}
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) { return check(), CUPTI_SUCCESS; }
CUptiResult cuptiFinalize() {
  const Lock lock(g_mutex);
  check();
  if (g_taking_down) refuse("removed while CUDA is taken down");
  g_callback = nullptr;
  g_kinds.reset();
  g_domains.reset();
  return CUPTI_SUCCESS;
}
}
