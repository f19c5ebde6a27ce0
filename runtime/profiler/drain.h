// Turns rings into a TraceSink's events. One Drain per recording; used by one thread at a time (the recording
// holds a lock around it).
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "db/ring_decoder.h"
#include "db/sink.h"
#include "runtime/profiler/clock.h"
#include "runtime/profiler/identities.h"
#include "runtime/profiler/ring_file.h"
#include "runtime/profiler/thread_log.h"

namespace pitwall::profiler {

// The row of the running process in the trace.
ProcessInfo describeProcess(int rank);

class Drain {
 public:
  struct Setup {
    TraceSink& sink;
    ThreadLogs& logs;
    const Identities& identities;
    const std::vector<EventSource*>& sources;  // outlives the drain; changes only between runs
    RingFile* file = nullptr;                  // of the rings, when they are in a file
    RingFile::Start start;
  };
  // Writes the process row. Records older than `start` are discarded or truncated.
  explicit Drain(const Setup& setup);

  // Writes all published records to the sink and flushes it; only then is the space in the rings freed, so
  // that at any kill each record is in the file or in the rings. Returns the sink's first failure.
  Status run(bool is_last = false);

  // run() for the last time, then finishes the sink.
  Status finish();

  // CPU time of all runs so far, ns.
  TimeNs selfNs() const { return self_ns_; }

 private:
  struct Work {
    std::shared_ptr<ThreadLog> log;
    bool ended;
    std::uint64_t head;
  };

  void addClockPair();
  // Of ticks that have passed: never extrapolated, so that later drains convert them to the same time.
  TimeNs toNs(Ticks ticks);
  std::vector<Work> collect();
  void drainRing(ThreadLog& log, std::uint64_t head);
  std::uint64_t copyValid(const Ring& ring, std::uint64_t from, std::uint64_t to);
  void reportOverwritten(ThreadLog& log, std::uint64_t count, const Record& first_kept);
  void reportDrops(ThreadLog& log);
  void sendOwnSpan();
  void drainSources(bool is_last);
  ThreadId threadOf(std::int64_t tid, const std::string& name);
  DeviceId deviceOf(const Ring& ring);
  TrackId trackOf(ThreadLog& log);

  TraceSink& sink_;
  ThreadLogs& logs_;
  const std::vector<EventSource*>& sources_;
  RingFile* const file_;
  std::unordered_map<std::int64_t, ThreadId> threads_;  // by tid
  ring::ClockMap clock_;
  ProcessId process_;
  ring::RingDecoder decoder_;
  std::vector<Record> copy_;  // of a ring whose writer does not wait for the drain
  TrackId own_track_;
  Ticks own_started_ = 0, own_finished_ = 0;  // of the previous run; sent by the next one
  StringId own_name_;
  bool own_pending_ = false;
  TimeNs self_ns_ = 0;
  TimeNs flushed_ns_ = 0;   // confirmed by the sink up to here
  std::uint64_t sent_ = 0;  // events of this run
  std::uint64_t dependencies_sent_ = 0;
};

}  // namespace pitwall::profiler
