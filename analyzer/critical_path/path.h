// The critical path through a window of time: what the end of the window waited for, back to its beginning.
//
// There are two methods. Where no device works, the operators of Pitwall's runtime and the engine's dependencies
// are the whole (operators.cpp). Otherwise the path consists of host threads, launches, streams, calls that wait for
// the device, and what is known of the engine (devices.cpp). Either way it is a walk over a dependency graph (dependencies/graph.h),
// and its steps follow each other without a gap and sum to the window.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/intervals.h"
#include "analyzer/analysis/timeline.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

enum class PathPart : std::uint8_t {
  operatorRun,
  call,  // of a library, on a host thread
  kernel,
  copy,
  communication,
  dataWait,
  launchDelay,     // from the end of the call until the work starts on an idle stream
  deviceDelay,     // from the end of one piece of work until the next of its stream, which was queued, starts
  engineOverhead,  // from the moment an operator was pushed, when what it waited for was done
  nothing,         // no event: the program's own code, or waiting that is not recorded
};
const char* toString(PathPart part);  // "operator", ..., "launch delay", ...

// What a part of the path is about: an operator's facts or an event's name; none of both for gaps.
struct PathKey {
  PathPart part = PathPart::nothing;
  OperatorId op;
  StringId name;
  friend bool operator<(const PathKey& a, const PathKey& b) {
    return std::tuple(a.part, a.op.value, a.name.value) < std::tuple(b.part, b.op.value, b.name.value);
  }
};

struct PathStep {
  TimeNs start_ns = 0, end_ns = 0;
  PathKey key;
  TrackId track;  // none for gaps
};

// Slack of an execution: how much later it could have ended without delaying the end of the window, all else
// unchanged.
struct PathSums {
  TimeNs on_path_ns = 0, slack_min_ns = INT64_MAX;
  double slack_sum_ns = 0;
  std::int64_t executions = 0;  // in the window, on the path or not
};

struct CriticalPath {
  static constexpr std::size_t kMostSteps = 10'000;
  static constexpr std::size_t kMostEvents = 200'000;  // of the window: long traces repeat

  Interval window;
  std::map<PathKey, PathSums> sums;
  std::vector<PathStep> steps;  // in order of time, without empty ones; of longer paths the last kMostSteps
  std::int64_t step_count = 0;
  std::vector<std::string> missing;  // sentences: what the path would need and the trace does not have

  // Steps are added backwards in time: each ends where the one before it began.
  void step(TimeNs from, TimeNs to, const PathKey& key, TrackId track = {});
  void slack(const PathKey& key, TimeNs slack_ns);
};

// Through the operators' dependencies. `operators` are ordered by start.
// Errors: corruptTrace from reading dependencies.
Result<CriticalPath> criticalPathOfOperators(Trace& trace, Interval window,
                                             std::vector<OperatorInterval> operators);

// Through the process's threads and its devices' streams: a kernel waits for the work before it on its stream
// or for its launch, whichever came last; a call that waits for the device for the work that ends last within
// it; a thread continues its own work, or that of another thread that ran last while it had nothing to do.
// Reads the events of the window. Errors: corruptTrace.
Result<CriticalPath> criticalPathOfDevices(Trace& trace, const Activity& activity, Interval window,
                                           ProcessId process);

}  // namespace pitwall::analysis
