// TraceSink: the interface through which producers write a trace. The store writes it to a file; tests keep
// it in memory.
//
// Threads: all calls of one sink come from one thread at a time (the drain thread, or an importer). Errors:
// single calls do not fail. A sink keeps its first failure, ignores later calls, and reports the failure from
// flush() and finish(); the producer decides how to report it to the user. Data confirmed by flush() survives
// a kill. Ids: 1-based and dense in the order of creation; equal strings and equal facts get equal ids.
#pragma once

#include <span>
#include <string_view>

#include "db/event.h"
#include "db/result.h"

namespace pitwall {

class TraceSink {
 public:
  virtual ~TraceSink() = default;

  virtual StringId string(std::string_view text) = 0;
  virtual ProcessId process(const ProcessInfo& process) = 0;
  virtual ThreadId thread(const ThreadInfo& thread) = 0;
  virtual DeviceId device(const DeviceInfo& device) = 0;
  virtual TrackId track(const TrackInfo& track) = 0;
  virtual OperatorId operatorFacts(const OperatorFacts& facts) = 0;
  virtual KernelId kernelFacts(const KernelFacts& facts) = 0;
  virtual FrameId frame(const FrameInfo& frame) = 0;
  virtual StackId stack(const StackInfo& stack) = 0;  // the caller is an earlier one

  // Facts of host, process and libraries, as text. Keys are documented in db/meta.h. A second call with
  // the same key replaces the value.
  virtual void meta(std::string_view key, std::string_view value) = 0;

  virtual void setting(const SettingInEffect& setting) = 0;  // the last of one name wins
  virtual void tunable(const TunableInEffect& tunable) = 0;  // the last of one name wins
  virtual void iteration(const IterationMark& mark) = 0;
  virtual void loss(const Loss& loss) = 0;

  // Events of one track, in any order; the sink sorts. Copied before the call returns.
  virtual void events(TrackId track, std::span<const Event> events) = 0;
  virtual void dependencies(std::span<const Dependency> dependencies) = 0;
  virtual void counters(TrackId track, std::span<const CounterSample> samples) = 0;

  // Makes all data so far survive a kill of this process. Returns the first failure since open.
  virtual Status flush() = 0;

  // Flushes and closes the trace as complete. Calls after it are ignored.
  virtual Status finish() = 0;
};

}  // namespace pitwall
