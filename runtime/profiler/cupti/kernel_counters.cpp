#include "runtime/profiler/cupti/kernel_counters.h"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "runtime/profiler/cupti/launch_call.h"
#include "runtime/profiler/cupti/stream_capture.h"

namespace pitwall::cupti {

namespace {

std::string explainCounters(const Library& library, CUptiResult result, bool some_are_recorded) {
  const char* const not_recorded = some_are_recorded ? "hardware counters of some kernels are not recorded"
                                                     : "hardware counters of GPUs are not recorded";
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return fmt::format(
          "{}: the NVIDIA driver allows them for administrators only; load it with "
          "NVreg_RestrictProfilingToAdminUsers=0, or give the program CAP_SYS_ADMIN",
          not_recorded);
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_CHIP_NAME:
      return fmt::format("{}: CUPTI does not support them for this GPU, its driver or its configuration",
                         not_recorded);
    default: return fmt::format("{}: {}", not_recorded, reportedBy(library, result));
  }
}

// Calls of CUDA that CUPTI makes itself while it is called from here may call back.
thread_local bool t_is_within = false;

class Within {
 public:
  Within() { t_is_within = true; }
  ~Within() { t_is_within = false; }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;
};

// Kernels that wait for those of other GPUs, which the same thread may have to launch: each would have to end first.
bool waitsForOthers(const char* kernel) {
  const std::string_view name = kernel == nullptr ? "" : kernel;
  return name.starts_with("nccl") || name.starts_with("nvshmem");
}

}  // namespace

void KernelCounters::begin(CUpti_SubscriberHandle subscriber) {
  const ScopedLock lock(mutex_);
  subscriber_ = subscriber;
  if (library_.counters == nullptr) return fail(CUPTI_ERROR_NOT_SUPPORTED);
  counts_ = true;
  CUptiResult result = library_.enableCallback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE,
                                               CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  for (const CUpti_CallbackId id : launchCalls()) {
    if (result == CUPTI_SUCCESS)
      result = library_.enableCallback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
  if (result != CUPTI_SUCCESS) fail(result);
}

// Where no context could be counted, the recording goes on without.
void KernelCounters::fail(CUptiResult result) {
  if (failure_ == CUPTI_SUCCESS) failure_ = result;
  for (const auto& [handle, context] : contexts_)
    if (context != nullptr) return;
  refused_.store(total_ == 0);
  stopCounting();
}

void KernelCounters::stopCounting() {
  counts_ = false;
  for (const CUpti_CallbackId id : launchCalls())
    (void)library_.enableCallback(0, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id);
}

ContextCounters* KernelCounters::contextOf(CUcontext handle) {
  const auto [known, is_new] = contexts_.try_emplace(handle);
  if (!is_new) return known->second.get();
  std::uint32_t device = 0;
  CUptiResult result = library_.getDeviceId(handle, &device);
  auto context = std::make_unique<ContextCounters>(*library_.counters, handle, device);
  if (result == CUPTI_SUCCESS) result = context->open();
  if (result == CUPTI_SUCCESS)
    known->second = std::move(context);
  else
    fail(result);
  return known->second.get();
}

void KernelCounters::onLaunch(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const Ticks end = Profiler::now();
  if (t_is_within) return;
  const Within within;
  const OutsideCaptures outside;
  if (call.callbackSite == CUPTI_API_ENTER) {
    if (!waitsForOthers(call.symbolName) && !isCaptured(id, call.functionParams)) enter(id, call);
    return;
  }
  if (call.correlationId != 0 && in_progress_.load() == call.correlationId) exit(end);
}

void KernelCounters::enter(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const ScopedLock lock(mutex_);
  if (!counts_) return;
  if (launch_) return void(++uncounted_);
  ContextCounters* const context = contextOf(call.context);
  if (context == nullptr) return;
  CountedLaunch& launch = launch_.emplace();
  launch.context = context;
  launch.handle = call.context;
  launch.kernel.name = names_.insert(call.symbolName == nullptr ? "kernel" : call.symbolName).first->c_str();
  launch.kernel.launch = launchFactsOf(id, call.functionParams);
  launch.kernel.device = context->device();
  launch.kernel.correlation = call.correlationId;
  if (const CUptiResult result = context->start(); result != CUPTI_SUCCESS) {
    launch_.reset();
    context->close();
    contexts_[call.context].reset();
    return fail(result);
  }
  launch.kernel.start = Profiler::now();
  in_progress_.store(call.correlationId);
}

// The kernel has ended when CUPTI stops. Meanwhile other threads launch, uncounted.
void KernelCounters::exit(Ticks end) {
  in_progress_.store(0);
  ContextCounters* const context = contextInProgress();
  if (context == nullptr) return;
  std::size_t ranges = 0;
  std::vector<double> values;
  const CUptiResult result = context->stop(ranges, values);
  const ScopedLock lock(mutex_);
  CountedLaunch launch = std::move(*launch_);
  launch_.reset();
  if (result != CUPTI_SUCCESS) {
    launch.context->close();
    contexts_[launch.handle].reset();
    fail(result);
  } else if (ranges == 1) {
    launch.kernel.end = end;
    for (std::size_t i = 0; i < values.size(); ++i)
      launch.kernel.values.emplace_back(launch.context->names()[i], values[i]);
    counted_.push_back(std::move(launch.kernel));
    if (++total_ == most_) stopCounting();
  } else if (ranges > 1) {
    ++uncounted_;
  }  // none: nothing ran
  if (!counts_) close();
}

ContextCounters* KernelCounters::contextInProgress() const {
  const ScopedLock lock(mutex_);
  return launch_ ? launch_->context : nullptr;
}

void KernelCounters::onContextEnd(CUcontext handle) {
  if (t_is_within) return;
  const Within within;
  const ScopedLock lock(mutex_);
  const auto found = contexts_.find(handle);
  // While another thread launches in it, which no program may do, it is left alone.
  if (found == contexts_.end() || (launch_ && launch_->handle == handle)) return;
  if (found->second != nullptr) found->second->close();
  contexts_.erase(found);
}

void KernelCounters::close() {
  for (auto& [handle, context] : contexts_)
    if (context != nullptr) context->close();
}

void KernelCounters::end() {
  const Within within;
  const ScopedLock lock(mutex_);
  counts_ = false;
  if (!launch_) close();
}

std::vector<CountedKernel> KernelCounters::take() {
  const ScopedLock lock(mutex_);
  return std::exchange(counted_, {});
}

std::int64_t KernelCounters::takeUncounted() {
  const ScopedLock lock(mutex_);
  return std::exchange(uncounted_, 0);
}

std::vector<std::string> KernelCounters::notes() const {
  const ScopedLock lock(mutex_);
  std::vector<std::string> notes;
  if (failure_ != CUPTI_SUCCESS) notes.push_back(explainCounters(library_, failure_, total_ > 0));
  if (total_ >= most_)
    notes.push_back(fmt::format("hardware counters were recorded of the first {} kernels", total_));
  return notes;
}

}  // namespace pitwall::cupti
