#include "runtime/profiler/cupti/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "db/try.h"
#include "runtime/profiler/cupti/device_attributes.h"
#include "runtime/profiler/cupti/recorded_kinds.h"

namespace pitwall::cupti {

namespace {

constexpr std::uint32_t kFlushPeriodMs = 100;             // of full buffers, by CUPTI
constexpr std::chrono::milliseconds kFlushInterval{250};  // of all complete ones, by the drain
constexpr std::size_t kDeviceBuffers = 8;  // allocated in advance on the GPU, each for 100 000 kernels

std::atomic<Session*> g_session{nullptr};
std::atomic<Buffers*> g_buffers{nullptr};
const Library* g_library = nullptr;  // provides the names of calls

std::uint64_t timestamp() { return Profiler::now(); }

const char* apiName(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const char* name = nullptr;
  return g_library->getCallbackName(domain, id, &name) == CUPTI_SUCCESS ? name : nullptr;
}

// Called thousands of times per second, and not useful: queries do not wait.
constexpr CUpti_CallbackId kNoise[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,        CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,     CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020,       CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_ptsz_v7000,
};

// Programs that use the driver API directly launch with these; the runtime's own driver calls are inside its
// calls.
constexpr CUpti_CallbackId kDriverCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,
    CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2,
};

std::string explain(const Library& library, CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_MAX_LIMIT_REACHED:
      return "GPU activity is not recorded: another tool uses CUPTI in this process (Nsight, the profiler of "
             "a "
             "framework), and only one can; CPU and NVTX are recorded";
    case CUPTI_ERROR_NOT_INITIALIZED:
    case CUPTI_ERROR_INVALID_DEVICE:
      return "GPU activity is not recorded: CUDA finds no usable GPU (is CUDA_VISIBLE_DEVICES "
             "set?); "
             "CPU and NVTX are recorded";
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return "GPU activity is not recorded: the NVIDIA driver allows it for administrators only; load it "
             "with NVreg_RestrictProfilingToAdminUsers=0";
    default: break;
  }
  return fmt::format("GPU activity is not recorded: {}; CPU and NVTX are recorded",
                     reportedBy(library, result));
}

}  // namespace

Session::Session(const Library& library, Profiler& profiler, Extent extent, const BufferPlan& plan)
    : library_(library),
      profiler_(profiler),
      extent_(extent),
      buffers_(plan),
      unified_memory_(library),
      counters_(library),
      names_(apiName) {}

Session::~Session() {
  close();
  profiler_.removeSource(*this);
  Session* self = this;
  if (g_session.compare_exchange_strong(self, nullptr)) g_buffers.store(nullptr);
}

Result<std::unique_ptr<Session>> Session::open(const Library& library, Profiler& profiler, Extent extent,
                                               BufferPlan plan) {
  std::unique_ptr<Session> session(new Session(library, profiler, extent, plan));
  if (Status status = session->begin(); !status.has_value()) {
    session->phase_.store(Phase::closed);
    return fail(status.error());
  }
  profiler.addSource(*session);
  return session;
}

Status Session::begin() {
  // Subscribing comes first: it fails while another tool uses CUPTI, whose buffers must not be replaced.
  if (const CUptiResult result = library_.subscribe(&subscriber_, onCall, this); result != CUPTI_SUCCESS)
    return fail(ErrorCode::unsupported, explain(library_, result));
  g_session.store(this);
  g_buffers.store(&buffers_);
  g_library = &library_;
  (void)library_.setThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  // Before any kind is enabled: from then on all times are ticks of the recorder's clock.
  CUptiResult result = library_.registerTimestampCallback(timestamp);
  if (result == CUPTI_SUCCESS) result = library_.registerCallbacks(request, complete);
  if (result != CUPTI_SUCCESS) {
    (void)library_.unsubscribe(subscriber_);
    return fail(ErrorCode::unsupported, explain(library_, result));
  }
  std::uint8_t zeroed = 1;
  std::size_t size = sizeof zeroed;
  (void)library_.setAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
  std::size_t ahead = kDeviceBuffers;
  size = sizeof ahead;
  (void)library_.setAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, &size, &ahead);
  PITWALL_TRY(enable());
  narrow();
  if (extent_ == Extent::managed) unified_memory_.begin(subscriber_);
  if (extent_ == Extent::counters) counters_.begin(subscriber_);
  if (counters_.isRefused()) recordWorkInstead();
  (void)library_.flushPeriod(kFlushPeriodMs);
  return {};
}

Status Session::enable() {
  for (const recorded::Kind& kind : recorded::kKinds) {
    if (!recorded::isOf(extent_, kind.group)) continue;
    const CUptiResult result = library_.activityEnable(kind.kind);
    if (result == CUPTI_SUCCESS) {
      enabled_.push_back(kind.kind);
    } else if (kind.kind == recorded::requiredBy(extent_)) {
      (void)library_.unsubscribe(subscriber_);
      return fail(ErrorCode::unsupported, explain(library_, result));
    } else {
      notes_.push_back(fmt::format("CUPTI does not record {} here", kind.name));
    }
  }
  return {};
}

// Also within callbacks of CUPTI.
void Session::recordWorkInstead() {
  if (records_work_instead_.exchange(true)) return;
  for (const recorded::Kind& kind : recorded::kKinds) {
    if (kind.group != recorded::Group::work) continue;
    (void)library_.activityEnable(kind.kind);
    if (phase_.load() != Phase::recording) (void)library_.activityDisable(kind.kind);
  }
}

// Without the calls that are made too often to be useful.
void Session::narrow() {
  if (extent_ == Extent::kernels) return;
  if (library_.enableRuntimeApi != nullptr) {
    for (const CUpti_CallbackId id : kNoise) (void)library_.enableRuntimeApi(id, 0);
  }
  // A query that finds work unfinished is no synchronisation.
  if (library_.enableAllSyncRecords != nullptr) (void)library_.enableAllSyncRecords(0);
  // Enabling single driver calls limits the records to these.
  if (library_.enableDriverApi == nullptr) return;
  (void)library_.activityDisable(CUPTI_ACTIVITY_KIND_DRIVER);
  for (const CUpti_CallbackId id : kDriverCalls) (void)library_.enableDriverApi(id, 1);
}

void Session::close() noexcept {
  Phase before = Phase::recording;
  if (!phase_.compare_exchange_strong(before, Phase::closed)) return;
  unified_memory_.end();
  counters_.end();
  for (const CUpti_ActivityKind kind : enabled_) (void)library_.activityDisable(kind);
  for (const recorded::Kind& kind : recorded::kKinds) {
    if (records_work_instead_.load() && kind.group == recorded::Group::work)
      (void)library_.activityDisable(kind.kind);
  }
  flushAtEnd();
  buffers_.retire();
  if (extent_ == Extent::everything) (void)profiler_.flush();  // the last records may have managed memory
  addNotes();
  // CUPTI may be finalised only where no call of CUDA is in progress on this thread: on the return from one.
  removal_.store(Removal::atNextCall);
  const bool armed = library_.enableDomain(1, subscriber_, CUPTI_CB_DOMAIN_RUNTIME_API) == CUPTI_SUCCESS &&
                     library_.enableDomain(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API) == CUPTI_SUCCESS;
  if (!armed) cancelRemoval();
}

// Of buffers that CUPTI has, this returns all. None comes when another tool has registered its functions for buffers
// since, as PyTorch's profiler does.
void Session::flushAtEnd() {
  const std::size_t lent = buffers_.lent();
  (void)library_.flushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  if (lent == 0 || buffers_.lent() != lent) return;
  notes_.emplace_back(
      "GPU activity is not recorded to the end: another tool in this process, such as the framework's own "
      "profiler, took "
      "CUPTI over; PITWALL_RECORD_GPU=0 leaves CUPTI to it from the start");
}

// When all records have been read.
void Session::addNotes() {
  if (extent_ == Extent::everything && uses_managed_memory_.load())
    notes_.emplace_back(
        "the program uses managed memory: PITWALL_RECORD_GPU=managed also records its migrations and page "
        "faults");
  if (std::string note = unified_memory_.note(); !note.empty()) notes_.push_back(std::move(note));
  for (std::string& note : counters_.notes()) notes_.push_back(std::move(note));
}

void Session::cancelRemoval() noexcept {
  Removal before = Removal::atNextCall;
  if (removal_.compare_exchange_strong(before, Removal::done)) (void)library_.unsubscribe(subscriber_);
}

void Session::finish() noexcept {
  if (phase_.load() == Phase::recording) {
    counters_.end();
    flushAtEnd();
    buffers_.close();
    (void)profiler_.flush();  // now, as CUPTI's function reads the records
    addNotes();
  }
  abandon();
}

void Session::abandon() noexcept {
  phase_.store(Phase::finished);
  buffers_.close();
  Removal before = Removal::atNextCall;
  (void)removal_.compare_exchange_strong(before, Removal::none);
  // Another thread may just be removing CUPTI, on its return from a call.
  for (int i = 0; i < 1000 && removal_.load() == Removal::running; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Session::onCall(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  auto* const session = static_cast<Session*>(self);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    const bool is_ready = id == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED;
    if (is_ready && session->phase_.load() == Phase::recording) session->unified_memory_.onDriverReady();
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING && session->phase_.load() != Phase::finished)
      session->counters_.onContextEnd(static_cast<const CUpti_ResourceData*>(data)->context);
    return;
  }
  const auto* const call = static_cast<const CUpti_CallbackData*>(data);
  if (call == nullptr) return;
  // A program that is not recorded is not slowed down.
  const bool counts = session->extent_ == Extent::counters && domain == CUPTI_CB_DOMAIN_DRIVER_API &&
                      (call->callbackSite == CUPTI_API_EXIT || session->profiler_.isRecording());
  if (counts && session->phase_.load() != Phase::finished) {
    session->counters_.onLaunch(id, *call);
    if (session->counters_.isRefused()) session->recordWorkInstead();
  }
  if (call->callbackSite != CUPTI_API_EXIT) return;
  Removal before = Removal::atNextCall;
  if (!session->removal_.compare_exchange_strong(before, Removal::running)) return;
  (void)session->library_.unsubscribe(session->subscriber_);
  (void)session->library_.finalize();
  session->removal_.store(Removal::done);
}

// --- CUPTI's callbacks -------------------------------------------------------------------------------------

void Session::request(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  Buffers* const buffers = g_buffers.load(std::memory_order_acquire);
  *buffer = buffers == nullptr ? nullptr : buffers->take();
  *size = *buffer == nullptr ? 0 : buffers->bytes();
  *most_records = 0;  // no limit
}

void Session::complete(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                       std::size_t valid) {
  Session* const session = g_session.load(std::memory_order_acquire);
  if (session == nullptr || buffer == nullptr) return;
  std::size_t dropped = 0;
  if (session->phase_.load() != Phase::finished &&
      session->library_.getNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS && dropped > 0)
    session->dropped_.fetch_add(static_cast<std::int64_t>(dropped), std::memory_order_relaxed);
  session->buffers_.filled(buffer, valid);
}

// --- writing to the trace ----------------------------------------------------------------------------------

void Session::readBuffer(const Buffers::Filled& buffer, Activities& into) {
  CUpti_Activity* record = nullptr;
  while (library_.getNextRecord(buffer.data, buffer.bytes, &record) == CUPTI_SUCCESS && record != nullptr)
    convert(*record, names_, into);
}

// CUPTI itself delivers only full buffers. A program that is killed then loses little, and threads that use CUDA no
// more hold no buffer.
void Session::flush(bool is_last) {
  const auto now = std::chrono::steady_clock::now();
  if (!is_last && now < next_flush_) return;
  next_flush_ = now + kFlushInterval;
  (void)library_.flushAll(is_last ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

void Session::addCounted(Activities& into) {
  for (const CountedKernel& kernel : counters_.take()) {
    Activity& activity = into.events.emplace_back();
    activity.place = Activity::Place::counted;
    activity.start = kernel.start;
    activity.end = kernel.end;
    activity.name = names_.kernel(kernel.name);
    activity.device = kernel.device;
    activity.correlation = kernel.correlation;
    activity.launch = static_cast<std::int32_t>(into.launches.size());
    into.launches.push_back(kernel.launch);
    for (const auto& [name, value] : kernel.values)
      into.counters.push_back({kernel.start, kernel.device, names_.text(name), value});
  }
}

// Also devices that do work and have no record.
void Session::describeDevices(Activities& activities) {
  const auto is_in = [](const std::vector<DeviceFacts>& all, std::uint32_t index) {
    return std::any_of(all.begin(), all.end(), [=](const DeviceFacts& one) { return one.index == index; });
  };
  std::optional<std::uint32_t> last;
  for (const Activity& activity : activities.events) {
    if (!activity.device || activity.device == last) continue;
    last = activity.device;
    if (is_in(devices_.devices, *last) || is_in(activities.devices, *last)) continue;
    activities.devices.emplace_back().index = *last;
  }
  for (DeviceFacts& facts : activities.devices) addAttributes(facts);
}

void Session::drain(DrainContext& context) {
  const Phase phase = phase_.load();
  if (phase == Phase::recording) flush(context.isLast());
  Activities& activities = activities_;
  activities.clear();
  for (const Buffers::Filled& buffer : buffers_.takeFilled()) {
    if (phase != Phase::finished) readBuffer(buffer, activities);
    buffers_.giveBack(buffer);
  }
  addCounted(activities);
  if (activities.uses_managed_memory) uses_managed_memory_.store(true);
  describeDevices(activities);
  devices_.devices.insert(devices_.devices.end(), activities.devices.begin(), activities.devices.end());
  devices_.contexts.insert(devices_.contexts.end(), activities.contexts.begin(), activities.contexts.end());
  if (recording_ != context.startTicks()) {
    recording_ = context.startTicks();
    writer_ = std::make_unique<ActivityWriter>();
    activities.devices = devices_.devices;
    activities.contexts = devices_.contexts;
  }
  writer_->write(activities, context);
  const std::int64_t refused = buffers_.refused();
  writer_->lost(
      dropped_.exchange(0, std::memory_order_relaxed),
      refused > refused_told_ ? "CUPTI dropped records: no buffer was free" : "CUPTI dropped records",
      context);
  refused_told_ = refused;
  writer_->lost(counters_.takeUncounted(), "kernels without hardware counters: several threads launched",
                context);
}

}  // namespace pitwall::cupti
