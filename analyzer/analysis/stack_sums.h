// Sampled stacks of the threads, summed by stack.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

struct StackTime {
  std::int64_t samples = 0;
  TimeNs total_ns = 0;
  TimeNs outside_ns = 0;  // while the thread is in no operator, call or wait that was recorded
  TimeNs startup_ns = 0;  // before the first iteration
};

struct ThreadStacks {
  ThreadId thread;
  ProcessId process;
  bool is_first = false;  // of its process
  TimeNs sampled_ns = 0;  // with a known stack
  std::map<StackId, StackTime> stacks;
};

// Of the time that the samples stand for (db/stacks.h).
// Errors: corruptTrace.
Result<std::vector<ThreadStacks>> sumStacks(Trace& trace);

// The same of the tracks kNativeFunctionTrack: stacks of one frame. Without iterations, startup_ns is the time before
// importsEnd().
Result<std::vector<ThreadStacks>> sumNativeFunctions(Trace& trace);

// When the imports with which Python programs begin have ended, in the first half of their time; the least time where there are
// none. Errors: corruptTrace.
Result<TimeNs> importsEnd(Trace& trace);

}  // namespace pitwall::analysis
