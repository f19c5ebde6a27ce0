// Counts each kernel of the program in hardware: from CUPTI's callback before a launch to the one after it, which makes
// kernels run one after the other. What one launch ran is its range, so that values and kernels cannot be confused.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "db/mutex.h"
#include "runtime/profiler/cupti/activity.h"
#include "runtime/profiler/cupti/context_counters.h"
#include "runtime/profiler/cupti/library.h"

namespace pitwall::cupti {

struct CountedKernel {
  const char* name = nullptr;  // mangled; valid as long as the KernelCounters
  LaunchFacts launch;
  std::uint32_t device = 0;
  std::uint32_t correlation = 0;                       // of the launching call
  Ticks start = 0, end = 0;                            // of that call
  std::vector<std::pair<const char*, double>> values;  // by the counters' names
};

// A launch in progress that is counted.
struct CountedLaunch {
  CountedKernel kernel;
  ContextCounters* context = nullptr;
  CUcontext handle = nullptr;
};

// Any thread may call each function.
class KernelCounters {
 public:
  // Counts at most `most` kernels.
  explicit KernelCounters(const Library& library, std::int64_t most = kMost)
      : library_(library), most_(most) {}

  // From now on CUPTI is to call `subscriber` for launches, and that onLaunch() and onContextEnd(). Nothing is counted
  // where CUPTI lacks the functions.
  void begin(CUpti_SubscriberHandle subscriber);
  void onLaunch(CUpti_CallbackId id, const CUpti_CallbackData& call);
  void onContextEnd(CUcontext context);
  // Nothing is counted from now on, and CUPTI's range profilers are removed, at the latest when a launch in progress
  // returns.
  void end();

  // No kernel is counted, since the first context was refused.
  bool isRefused() const { return refused_.load(); }

  std::vector<CountedKernel> take();
  // Kernels since the last call that ran without being counted, as another thread's was in progress.
  std::int64_t takeUncounted();

  // Sentences for the user.
  std::vector<std::string> notes() const;

  static constexpr std::int64_t kMost = 20'000;

 private:
  void enter(CUpti_CallbackId id, const CUpti_CallbackData& call);
  void exit(Ticks end);
  ContextCounters* contextInProgress() const;
  ContextCounters* contextOf(CUcontext context) PITWALL_REQUIRES(mutex_);
  void fail(CUptiResult result) PITWALL_REQUIRES(mutex_);
  void stopCounting() PITWALL_REQUIRES(mutex_);
  void close() PITWALL_REQUIRES(mutex_);

  const Library& library_;
  const std::int64_t most_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::atomic<bool> refused_{false};
  std::atomic<std::uint32_t> in_progress_{0};  // correlation of launch_; 0 = none
  mutable Mutex mutex_;
  bool counts_ PITWALL_GUARDED_BY(mutex_) = false;
  std::optional<CountedLaunch> launch_ PITWALL_GUARDED_BY(mutex_);
  std::map<CUcontext, std::unique_ptr<ContextCounters>> contexts_
      PITWALL_GUARDED_BY(mutex_);  // null = refused
  std::unordered_set<std::string> names_ PITWALL_GUARDED_BY(mutex_);
  std::vector<CountedKernel> counted_ PITWALL_GUARDED_BY(mutex_);
  std::int64_t total_ PITWALL_GUARDED_BY(mutex_) = 0;
  std::int64_t uncounted_ PITWALL_GUARDED_BY(mutex_) = 0;
  CUptiResult failure_ PITWALL_GUARDED_BY(mutex_) = CUPTI_SUCCESS;
};

}  // namespace pitwall::cupti
