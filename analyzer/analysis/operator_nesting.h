// Operators that run within another one on the same thread, as PyTorch's do, and the device work that each
// launches. The self time of an operator leaves out nested ones, so that sums over operators count no
// moment of a thread twice. Device work belongs to the operator that a dependency leads from to the call that launched
// it, as our runtime records it; else to the innermost operator around that call.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/host_threads.h"
#include "analyzer/analysis/launch_index.h"
#include "analyzer/analysis/timeline.h"

namespace pitwall::analysis {

class OperatorNesting {
 public:
  struct Times {
    TimeNs self_ns = 0, device_ns = 0;
  };

  // `others` by TrackId.value: device work there is another process's. May be shorter than there are tracks.
  explicit OperatorNesting(std::size_t fact_count, std::vector<bool> others = {}, HostThreads host = {})
      : times_(fact_count + 1), others_(std::move(others)), host_(std::move(host)) {}

  // In order of time. Those that do not count hide nothing of others, but what they launch is theirs.
  void add(const OperatorInterval& op, bool counts);
  // The calls and device work of the time chunk whose operators were added last; `to_ns` is its end. What no operator
  // launched is summed where its start `counts`.
  void addDeviceWork(std::span<const HostCall> calls, std::span<const DeviceWork> work,
                     const LaunchIndex& launches, TimeNs to_ns, const std::function<bool(TimeNs)>& counts);

  // Whether dependencies may lead from operators to calls: they have correlations.
  bool hasCorrelations() const { return !recent_.empty() || !older_.empty(); }

  // By OperatorId.value; 0: operators without facts.
  const Times& of(std::uint32_t op) const { return times_[op]; }
  // Whose launch is not recorded or is in no operator of the process.
  TimeNs deviceOutside() const { return outside_ns_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  // Launches whose work has not been read; some have none: memory does not grow with the trace.
  static constexpr std::size_t kMostWaiting = std::size_t{1} << 20;

  struct Node {
    TimeNs start_ns = 0, end_ns = 0;
    std::uint32_t op = 0, parent = kNone;
    bool counts = false;
  };
  struct Launch {
    std::uint32_t op = 0;
    bool counts = false, found = false;
  };
  struct Execution {
    std::uint32_t op = 0;
    bool counts = false;
  };
  using Thread = std::vector<Node>;  // by start: of this time chunk, and those before that still run

  static std::uint32_t innermost(const Thread& thread, TimeNs at);
  static void forget(Thread& thread, TimeNs before);
  const Execution* executionOf(CorrelationId op) const;
  void takeLaunches(std::span<const HostCall> calls);

  std::vector<Times> times_;
  std::vector<bool> others_;
  HostThreads host_;
  std::unordered_map<std::uint32_t, Thread> threads_;  // by the first track of each
  // The last executions that have a correlation: device work follows its operator soon.
  std::unordered_map<CorrelationId, Execution> recent_, older_;
  std::unordered_map<CorrelationId, Launch> waiting_;    // calls within operators
  std::vector<CorrelationId> found_before_, found_now_;  // a launch may have several pieces of work
  TimeNs outside_ns_ = 0;
};

}  // namespace pitwall::analysis
