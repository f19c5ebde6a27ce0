// The recorder: what runs in the program's threads while it is recorded. Target pitwall::profiler; depends on
// db's contract alone (no engine, oneDNN, CUDA or SQLite), so any C++ program can use it.
//
// Each thread has a ring of 32-byte records that it alone writes; a drain thread turns rings into events of a
// TraceSink every flush interval. A recording thread never allocates, locks or calls the system after its
// first record. When a ring is full, records are dropped, counted and reported as Loss. Recording steers
// nothing: no scheduler may read isRecording() for a decision.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "db/event.h"
#include "db/result.h"
#include "db/sink.h"

namespace pitwall {

// A point on the recorder's clock: TSC ticks where invariant, else CLOCK_MONOTONIC ns. Converted when
// drained.
using Ticks = std::uint64_t;

// Something with a name, registered once: use from a function-local static or keep it.
struct SiteId {
  std::uint32_t value = 0;
};

struct ProfilerOptions {
  int flush_interval_ms = 250;
  Bytes ring_bytes = 2 << 20;  // per thread, rounded up to a power of two
};

class Profiler {
 public:
  explicit Profiler(ProfilerOptions options = {});
  ~Profiler();  // stops
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Starts recording into `sink`, which the profiler owns from now on. Errors: invalidInput when already
  // recording.
  Status start(std::unique_ptr<TraceSink> sink);

  // Drains all, finishes the sink, and returns the sink's first failure if any. No effect when not recording.
  Status stop();

  // The sink's first failure so far (disk full), as seen by the drain thread; recording goes on in vain.
  Status sinkStatus() const;

  // Runs `write` on the drain thread's sink, between drains (for dimension rows: settings, meta). No effect
  // when not recording.
  void withSink(const std::function<void(TraceSink&)>& write);

  // Relaxed load; a recording site tests it first.
  bool isRecording() const { return recording_.load(std::memory_order_relaxed); }

  // --- identities; any thread; these may lock and allocate
  // -------------------------------------------------------
  SiteId site(std::string_view name, EventKind kind);
  OperatorId operatorFacts(
      const OperatorFacts& facts);  // equal facts, equal id; valid for the profiler's life
  OperatorFacts operatorFacts(OperatorId id) const;
  void nameThread(std::string_view name);  // the calling thread; remembered also when not recording

  // --- recording; any thread; only while isRecording(), else ignored
  // ---------------------------------------------
  static Ticks now();

  struct OperatorRun {
    Ticks pushed, ready, started, finished;
    CorrelationId correlation;
    OperatorId op;
  };
  void operatorRun(const OperatorRun& run);  // on the thread that ran it
  void span(SiteId site, Ticks started, Ticks finished, std::int64_t value = 0);
  void instant(SiteId site, std::int64_t value = 0);
  void dependency(const Dependency& dependency);
  void counter(SiteId site, double value);  // site's kind is ignored; unit in site name "name|unit"
  void iteration(std::int64_t index, std::int64_t items);  // the boundary before iteration `index`

  // CPU time that draining has cost so far, ns.
  TimeNs selfTime() const;

 private:
  struct State;
  std::atomic<bool> recording_{false};
  std::unique_ptr<State> state_;
};

// Records the enclosing scope. The site must outlive it.
class ScopedSpan {
 public:
  ScopedSpan(Profiler& profiler, SiteId site)
      : profiler_(profiler), site_(site), started_(profiler.isRecording() ? Profiler::now() : 0) {}
  ~ScopedSpan() {
    if (started_ != 0) profiler_.span(site_, started_, Profiler::now());
  }
  ScopedSpan(const ScopedSpan&) = delete;
  ScopedSpan& operator=(const ScopedSpan&) = delete;

 private:
  Profiler& profiler_;
  SiteId site_;
  Ticks started_;
};

}  // namespace pitwall
