// The recorder: what runs in the program's threads while it is recorded. Target pitwall::profiler; depends on
// db's contract alone (no engine, oneDNN, CUDA or SQLite), so any C++ program can use it.
//
// Each thread has a ring of 32-byte records that it alone writes; a drain thread turns rings into events of a
// TraceSink every flush interval, or when a ring is half full. A recording thread never allocates, locks or
// calls the system after its first record. When a ring is full, records are dropped, counted and reported as
// Loss. Recording steers nothing: no scheduler may read isRecording() for a decision.
//
// fork(): the child does not record; a Profiler made in the child does.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "db/event.h"
#include "db/result.h"
#include "db/sink.h"

namespace pitwall {

// A point on the recorder's clock: TSC ticks where invariant, else CLOCK_MONOTONIC ns. Converted when
// drained. Never 0.
using Ticks = std::uint64_t;

namespace profiler {
class Ring;
bool tscIsInvariant();
Ticks monotonicNs();
inline bool clock_is_tsc = tscIsInvariant();
}  // namespace profiler

// What an EventSource is given while a recording is drained. Valid during the call.
class DrainContext {
 public:
  virtual ~DrainContext() = default;
  virtual TraceSink& sink() = 0;
  virtual ProcessId process() const = 0;
  // Ns since the trace's start; ticks before it give 0.
  virtual TimeNs toNs(Ticks ticks) const = 0;
  virtual Ticks startTicks() const = 0;
  // The thread with this id of the operating system; the same one that its own records belong to.
  virtual ThreadId threadOf(std::int64_t tid) = 0;
  // The recording ends with this drain.
  virtual bool isLast() const = 0;
};

// Something that collects events elsewhere than in the rings (device activity, ranges across threads) and
// hands them over whenever the recording is drained.
class EventSource {
 public:
  virtual ~EventSource() = default;
  // On one thread at a time, with the recorder's sink lock held: call nothing of the profiler but now().
  virtual void drain(DrainContext& context) = 0;
};

enum class RecorderClock : std::uint8_t { automatic, monotonic };

// Something with a name, registered once: use from a function-local static or keep it.
struct SiteId {
  std::uint32_t value = 0;
};

struct ProfilerOptions {
  int flush_interval_ms = 250;
  int poll_interval_ms = 5;    // how often rings are looked at, for one that is half full
  Bytes ring_bytes = 2 << 20;  // per thread, rounded up to a power of two; at least 1 KiB
  int rank = 0;                // of this process in a distributed job, for the trace
};

class Profiler {
 public:
  explicit Profiler(ProfilerOptions options = {});
  ~Profiler();  // stops
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Starts recording into `sink`, which the profiler owns from now on. Errors: invalidInput when already
  // recording; unsupported in a forked child.
  Status start(std::unique_ptr<TraceSink> sink);

  // Drains all, finishes the sink, and returns the sink's first failure if any. No effect when not recording.
  Status stop();

  // The sink's first failure so far (disk full), as seen by the drain thread; recording goes on in vain.
  // After stop(): of the last recording.
  Status sinkStatus() const;

  // Runs `write` on the recording's sink, on the calling thread, between drains (for dimension rows:
  // settings, meta). No effect when not recording.
  void withSink(const std::function<void(TraceSink&)>& write);

  // Asks `source` at every drain, from the next one on, after the threads' rings. It must stay until it is
  // removed or the profiler is gone; removeSource() waits for a drain in progress. Any time; sources survive
  // stop().
  void addSource(EventSource& source);
  void removeSource(EventSource& source);

  // Drains now and flushes the sink. Returns the sink's first failure. No effect when not recording.
  Status flush();

  // Relaxed load; a recording site tests it first.
  bool isRecording() const { return recording_.load(std::memory_order_relaxed); }

  // --- identities; any thread; these may lock and allocate ---------------------------------------------
  SiteId site(std::string_view name, EventKind kind);  // equal name and kind, equal id
  OperatorId operatorFacts(
      const OperatorFacts& facts);  // equal facts, equal id; valid for the profiler's life
  OperatorFacts operatorFacts(OperatorId id) const;
  void nameThread(std::string_view name);  // the calling thread; remembered also when not recording
  // A correlation for something that is not an operator of the engine (a batch). At least 2^48; engines count
  // from 1.
  CorrelationId newCorrelation();

  // --- recording; any thread; only while isRecording(), else ignored -----------------------------------
  static Ticks now() {
#if defined(__x86_64__)
    if (profiler::clock_is_tsc) [[likely]]
      return __rdtsc();
#endif
    return profiler::monotonicNs();
  }

  // The clock of the whole process; for tests and for machines whose TSC lies. Only while nothing records.
  static void useClock(RecorderClock clock);

  // Times that are 0 are unknown: pushed and ready then count as started.
  struct OperatorRun {
    Ticks pushed, ready, started, finished;
    CorrelationId correlation;
    OperatorId op;
  };
  void operatorRun(const OperatorRun& run);  // on the thread that ran it
  // Spans of one thread are recorded in the order they end.
  void span(SiteId site, Ticks started, Ticks finished, std::int64_t value = 0,
            CorrelationId correlation = 0);
  void instant(SiteId site, std::int64_t value = 0);
  void dependency(const Dependency& dependency);
  void counter(SiteId site, double value);  // site's kind is ignored; unit in site name "name|unit"
  void iteration(std::int64_t index, std::int64_t items);  // the boundary before iteration `index`

  // A span whose start is announced, so that what it encloses gets its nesting depth also when it ends long
  // after. enter() returns its start, 0 when not recording; a leave() for each enter() that was not 0.
  Ticks enter();
  void leave(SiteId site, Ticks started, std::int64_t value = 0, CorrelationId correlation = 0);

  // CPU time that draining has cost so far, ns.
  TimeNs selfTime() const;

 private:
  struct State;
  profiler::Ring* ring();  // of the calling thread; nullptr when there is no memory for one

  std::atomic<bool> recording_{false};
  const std::uint64_t id_;  // distinguishes profilers, also those that lay at the same address
  std::unique_ptr<State> state_;
};

// Records the enclosing scope. The site must outlive it.
class ScopedSpan {
 public:
  ScopedSpan(Profiler& profiler, SiteId site)
      : profiler_(profiler), site_(site), started_(profiler.isRecording() ? profiler.enter() : 0) {}
  ~ScopedSpan() {
    if (started_ != 0) profiler_.leave(site_, started_, value_, correlation_);
  }
  ScopedSpan(const ScopedSpan&) = delete;
  ScopedSpan& operator=(const ScopedSpan&) = delete;

  void setValue(std::int64_t value) { value_ = value; }
  void setCorrelation(CorrelationId correlation) { correlation_ = correlation; }

 private:
  Profiler& profiler_;
  SiteId site_;
  Ticks started_;
  std::int64_t value_ = 0;
  CorrelationId correlation_ = 0;
};

}  // namespace pitwall
