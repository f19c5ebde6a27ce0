// Turns rings into a TraceSink's events. One Drain per recording; used by one thread at a time (the recording
// holds a lock around it).
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "db/sink.h"
#include "runtime/profiler/clock.h"
#include "runtime/profiler/identities.h"
#include "runtime/profiler/thread_log.h"

namespace pitwall::profiler {

// The running process as the trace names it.
ProcessInfo describeProcess(int rank);

class Drain {
 public:
  // Writes the process row. Records older than this moment are discarded or cut. `sources` outlives it and
  // changes only between runs.
  Drain(TraceSink& sink, ThreadLogs& logs, const Identities& identities, int rank,
        const std::vector<EventSource*>& sources);

  // Everything published up to now goes to the sink, which is then flushed. Returns the sink's first failure.
  Status run(bool is_last = false);

  // run() for the last time, then finishes the sink.
  Status finish();

  // CPU time of all runs so far, ns.
  TimeNs selfNs() const { return self_ns_; }

 private:
  struct Site {
    StringId name;
    EventKind kind = EventKind::scope;
    bool known = false;
    TrackId counter_track;
    std::vector<CounterSample> samples;
  };

  void drainRing(ThreadLog& log, std::uint64_t head);
  std::uint64_t convert(const Ring& ring, std::uint64_t index);
  void convertSpan(const Record& record, CorrelationId correlation);
  void convertOperator(const Record& record, const Record& times);
  void setDepths();
  void reportDrops(ThreadLog& log);
  void sendCounters();
  void sendOwnSpan();
  void askSources(bool is_last);
  ThreadId threadOf(std::int64_t tid, const std::string& name);
  TrackId trackOf(ThreadLog& log);
  Site& siteOf(std::uint32_t id);
  StringId operatorName(std::uint32_t id);

  TraceSink& sink_;
  ThreadLogs& logs_;
  const Identities& identities_;
  const std::vector<EventSource*>& sources_;
  std::unordered_map<std::int64_t, ThreadId> threads_;  // by tid
  ClockMap clock_;
  ProcessId process_;
  TrackId own_track_;
  Event own_event_;  // of the run before; sent by the next one
  StringId own_name_;
  bool own_pending_ = false;
  TimeNs self_ns_ = 0;

  struct Operator {
    OperatorId id;
    StringId name;
  };
  std::vector<Operator> operators_;  // index = the profiler's id
  std::vector<Site> sites_;          // index = the profiler's id
  std::vector<Event> events_;
  std::vector<bool> announced_;  // of events_: a scope that counted itself in the depths it encloses
  std::vector<Dependency> dependencies_;
};

}  // namespace pitwall::profiler
