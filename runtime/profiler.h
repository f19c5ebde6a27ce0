// The recorder, which runs in the threads of the recorded program. Target pitwall::profiler; depends only on
// db's contract (no engine, oneDNN, CUDA or SQLite), so any C++ program can use it. Programs usually use the
// macros of runtime/record_macros.h; C programs use runtime/profiler_c.h.
//
// Each thread has a ring of 32-byte records that only it writes; a drain thread turns the records into events
// of a TraceSink every flush interval, or when a ring is half full. A recording thread never allocates, locks
// or makes a system call after its first record. ProfilerOptions::when_full determines what happens when a
// ring is full; lost records are counted and reported as Loss. Recording has no influence on the program: no
// scheduler may read isRecording().
//
// With RecordingOptions::ring_path the rings are in a file beside the trace: after a kill, the next opening
// of the trace adds the remaining records from it (db/ring_format.h).
//
// fork(): the child does not record; a Profiler created in the child does. exec(): as after a kill, nothing
// is lost.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "db/event.h"
#include "db/result.h"
#include "db/sink.h"
#include "runtime/ring_writer.h"

namespace pitwall {

// Passed to an EventSource while a recording is drained. Valid during the call.
class DrainContext {
 public:
  virtual ~DrainContext() = default;
  virtual TraceSink& sink() = 0;
  virtual ProcessId process() const = 0;
  // Ns since the trace's start; ticks before it give 0.
  virtual TimeNs toNs(Ticks ticks) const = 0;
  virtual Ticks startTicks() const = 0;
  // The thread with this id of the operating system; the same one as for its own records.
  virtual ThreadId threadOf(std::int64_t tid) = 0;
  // The track of a ring made by Profiler::trackRing().
  virtual TrackId trackOf(const profiler::Ring& ring) = 0;
  // The recording ends with this drain.
  virtual bool isLast() const = 0;
};

// Collects events outside of the rings (device activity, ranges across threads) and delivers them whenever
// the recording is drained.
class EventSource {
 public:
  virtual ~EventSource() = default;
  // On one thread at a time, with the recorder's sink lock held: call nothing of the profiler but now().
  virtual void drain(DrainContext& context) = 0;
};

class Arguments;
namespace profiler {
// The record with its continuation records; the arguments may be nullptr.
void putWith(Ring* ring, const ring::Record& record, CorrelationId correlation, const Arguments* arguments);
}  // namespace profiler

// Receives all data that a recording's sink receives. On one thread at a time, with the recorder's sink lock
// held: call nothing of the profiler but now().
class RecordingListener {
 public:
  class Names {
   public:
    virtual ~Names() = default;
    virtual const std::string& text(StringId id) const = 0;
    virtual const OperatorFacts& facts(OperatorId id) const = 0;
    virtual const TrackInfo& trackInfo(TrackId id) const = 0;
    virtual std::int64_t threadOf(
        TrackId id) const = 0;  // the operating system's number; 0 = no thread's track
  };
  virtual ~RecordingListener() = default;
  virtual void events(const Names& names, TrackId track, std::span<const Event> events) = 0;
  virtual void counters(const Names& names, TrackId track, std::span<const CounterSample> samples) = 0;
  virtual void drained() = 0;  // all data of a drain has been passed
};

enum class RecorderClock : std::uint8_t { automatic, monotonic };

// The id of a named site, registered once: keep it, for example in a function-local static.
struct SiteId {
  std::uint32_t value = 0;
};

using ring::RingPolicy;

struct ProfilerOptions {
  // A ring that is half full is drained at once, the others this often. 0: drained only by flush() and
  // stop(); only records that fit into the rings are kept.
  int flush_interval_ms = 250;
  Bytes ring_bytes = 2 << 20;  // per thread, rounded up to a power of two; at least 1 KiB. The 33rd thread
                               // and those after it get an eighth, the 129th and those after it a 32nd
  RingPolicy when_full = RingPolicy::drop;
  int rank = 0;  // of this process in a distributed job, for the trace
};

struct RecordingOptions {
  // The ring file, ring::filePath(trace); "" = in memory, and a kill loses all records that were not flushed.
  // A file that cannot be created or has no space is a fact in the trace (meta recorder.rings), not an error.
  // Deleted at stop(), unless the sink has failed: then it keeps the loss for the next opening of the trace.
  std::string ring_path;
};

// Up to 15 arguments of an event; a text takes one place per 24 bytes and one more. Keys are sites of any
// kind, of which only the names are used. Arguments that do not fit are left out; texts are truncated.
class Arguments {
 public:
  Arguments() {}
  void add(SiteId key, std::int64_t value) {
    put(key, ring::ArgumentType::integer, static_cast<std::uint64_t>(value));
  }
  void add(SiteId key, double value) {
    put(key, ring::ArgumentType::real, std::bit_cast<std::uint64_t>(value));
  }
  void add(SiteId key, std::string_view text);

 private:
  friend class Profiler;
  friend void profiler::putWith(profiler::Ring*, const ring::Record&, CorrelationId, const Arguments*);
  static constexpr std::uint32_t kMost = 15;
  void put(SiteId key, ring::ArgumentType type, std::uint64_t bits) {
    if (count_ < kMost)
      records_[count_++] = {
          bits, 0, 0, key.value, ring::RecordKind::argument, static_cast<std::uint8_t>(type), 0};
  }
  std::uint32_t count_ = 0;
  ring::Record records_[kMost];  // the first count_ are set
};

class Profiler {
 public:
  explicit Profiler(ProfilerOptions options = {});
  ~Profiler();  // stops
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Starts recording into `sink`, which the profiler owns from now on. Errors: invalidInput when already
  // recording; unsupported in a forked child.
  Status start(std::unique_ptr<TraceSink> sink, RecordingOptions options = {});

  // Drains all, finishes the sink, and returns the sink's first failure if any. No effect when not recording.
  Status stop();

  // The sink's first failure so far (disk full), as seen by the drain thread; recording continues without
  // effect. After stop(): of the last recording.
  Status sinkStatus() const;

  // Runs `write` on the recording's sink, on the calling thread, between drains (for dimension rows:
  // settings, meta). No effect when not recording.
  void withSink(const std::function<void(TraceSink&)>& write);

  // Drains `source` at every drain, from the next one on, after the threads' rings. It must live until it is
  // removed or the profiler is destroyed; removeSource() waits for a drain in progress. Any time; sources
  // survive stop().
  void addSource(EventSource& source);
  void removeSource(EventSource& source);

  // One listener at most; nullptr removes it, and waits for a drain in progress. Any time; it survives
  // stop().
  void setListener(RecordingListener* listener);

  // Starts a recording that only goes to a listener. Errors as start().
  Status startForListener();

  // Operators registered by this thread from now on are named "<prefix>::<name>"; "" ends it. Returns the one
  // before.
  static std::string setOperatorPrefix(std::string prefix);

  // Drains now and flushes the sink. Returns the sink's first failure. No effect when not recording.
  Status flush();

  // Relaxed load; a recording site tests it first.
  bool isRecording() const { return recording_.load(std::memory_order_relaxed); }

  // --- identities; any thread; these may lock and allocate ---------------------------------------------
  // Equal name, kind and domain, equal id. The domain, when given, becomes the argument "domain" of its
  // events.
  SiteId site(std::string_view name, EventKind kind, std::string_view domain = {});
  // The same with any arguments for its events: members of a JSON object, without braces.
  SiteId siteWithArguments(std::string_view name, EventKind kind, std::string_view members);
  OperatorId operatorFacts(
      const OperatorFacts& facts);  // equal facts, equal id; valid for the profiler's life
  OperatorFacts operatorFacts(OperatorId id) const;
  void nameThread(std::string_view name);  // the calling thread; remembered also when not recording
  // The calling thread runs operators of this device alone (as db/ring_format.h numbers it); before its first record.
  void setThreadDevice(std::uint8_t device);
  // A correlation for something that is not an operator of the engine (a batch). At least 2^48; engines count
  // from 1.
  CorrelationId newCorrelation();

  // --- recording; any thread; only while isRecording(), else ignored -----------------------------------
  static Ticks now() { return profiler::readClock(); }

  // The clock of the whole process; for tests and for machines with a wrong TSC. Only while nothing records.
  static void useClock(RecorderClock clock);

  // Times that are 0 are unknown: pushed and ready then count as started. The device as db/ring_format.h
  // numbers it; any but cpu 0 becomes the argument "device" of the event.
  struct OperatorRun {
    Ticks pushed, ready, started, finished;
    CorrelationId correlation;
    OperatorId op;
    std::uint8_t device = 0;
  };
  void operatorRun(const OperatorRun& run);  // on the thread that ran it

  // An operator that another thread may complete has a track of its device, such as "cpu 1 asynchronous", for itself
  // from its start to its completion. Any thread; a track is passed on as the operator is.
  // To be called before `started` is read, so that it follows the end of the track's operator before. 0 = there is no
  // track: more than 256 are in use, or there is no memory.
  std::uint16_t takeDeviceTrack(std::uint8_t device);
  // Gives an unused track back; no effect for 0.
  void giveDeviceTrack(std::uint8_t device, std::uint16_t track);
  // The operator is open (`finished` is ignored): from now on the trace of a killed program shows it as such.
  void operatorOpen(const OperatorRun& run, std::uint16_t track);
  // Records the operator and gives the track back. Without a track: on the calling thread.
  void operatorRun(const OperatorRun& run, std::uint16_t track);
  // A ring of a track with this name and of no thread, for the profiler's life. The caller sees to it that one thread at
  // a time writes it (runtime/ring_writer.h), and writes only while isRecording(). nullptr when there is no memory.
  profiler::Ring* trackRing(std::string_view name);
  // Spans of one thread are recorded in the order they end.
  void span(SiteId site, Ticks started, Ticks finished, std::int64_t value = 0, CorrelationId correlation = 0,
            const Arguments* arguments = nullptr) {
    if (!isRecording()) return;
    put({started, finished - started, static_cast<std::uint64_t>(value), site.value, ring::RecordKind::span,
         0, profiler::t_current.depth},
        correlation, arguments);
  }
  void instant(SiteId site, std::int64_t value = 0, const Arguments* arguments = nullptr) {
    if (!isRecording()) return;
    put({now(), 0, static_cast<std::uint64_t>(value), site.value, ring::RecordKind::instant, 0,
         profiler::t_current.depth},
        0, arguments);
  }
  void dependency(const Dependency& dependency);
  // An arrow between two events that have these correlations.
  void flow(CorrelationId from, CorrelationId to) { dependency({from, to, DependencyKind::flow}); }
  void counter(SiteId site, double value) {  // site's kind is ignored; unit in site name "name|unit"
    if (!isRecording()) return;
    put({now(), 0, std::bit_cast<std::uint64_t>(value), site.value, ring::RecordKind::counter, 0, 0}, 0,
        nullptr);
  }
  void iteration(std::int64_t index, std::int64_t items);  // the boundary before iteration `index`

  // A span whose start is announced: enclosed events get the correct nesting depth even if it ends long after
  // them, and a killed program's trace shows it as open. enter() returns its start, 0 when not recording; a
  // leave() for each enter() that was not 0.
  Ticks enter(SiteId site = {}) {
    if (!isRecording()) return 0;
    profiler::Ring* const own = ring();
    const Ticks started = now();
    profiler::open(own, site.value, started);
    return started;
  }
  void leave(SiteId site, Ticks started, std::int64_t value = 0, CorrelationId correlation = 0,
             const Arguments* arguments = nullptr) {
    const std::uint16_t depth = --profiler::t_current.depth;
    if (!isRecording()) return;
    const Ticks finished = now();
    profiler::Ring* const own = ring();
    if (own == nullptr) return;
    const ring::Record record{started,    finished - started,     static_cast<std::uint64_t>(value),
                              site.value, ring::RecordKind::span, ring::kAnnounced,
                              depth};
    if (correlation == 0 && arguments == nullptr) [[likely]] {
      profiler::put(own, record);
    } else {
      profiler::putWith(own, ring::Record(record), correlation, arguments);  // a copy: see SiteScope
    }
    own->depth.store(depth, std::memory_order_release);
  }

  // The same for an operator of a library that calls operators within operators: began with enter(), with a site of its
  // name.
  void leaveOperator(OperatorId op, Ticks started);

  // CPU time of all drains so far, ns.
  TimeNs selfTime() const;

 private:
  friend class SiteRegistry;
  struct State;
  // The calling thread's ring; nullptr when there is no memory for one.
  profiler::Ring* ring() {
    if (profiler::t_current.owner == id_) [[likely]]
      return profiler::t_current.ring;
    return makeRing();
  }
  profiler::Ring* makeRing();
  void put(const ring::Record& record, CorrelationId correlation, const Arguments* arguments) {
    if (correlation == 0 && arguments == nullptr) [[likely]] {
      profiler::put(ring(), record);
    } else {
      profiler::putWith(ring(), ring::Record(record), correlation, arguments);
    }
  }

  std::atomic<bool> recording_{false};
  const std::uint64_t id_;  // distinguishes profilers, also those at the same address
  std::unique_ptr<State> state_;
};

// Records the enclosing scope. The site must outlive it.
class ScopedSpan {
 public:
  ScopedSpan(Profiler& profiler, SiteId site)
      : profiler_(profiler), site_(site), started_(profiler.isRecording() ? profiler.enter(site) : 0) {}
  ~ScopedSpan() {
    if (started_ != 0) profiler_.leave(site_, started_, value_, correlation_, arguments_);
  }
  ScopedSpan(const ScopedSpan&) = delete;
  ScopedSpan& operator=(const ScopedSpan&) = delete;

  void setValue(std::int64_t value) { value_ = value; }
  void setCorrelation(CorrelationId correlation) { correlation_ = correlation; }
  void setArguments(const Arguments& arguments) { arguments_ = &arguments; }  // which must outlive the span

 private:
  Profiler& profiler_;
  SiteId site_;
  Ticks started_;
  std::int64_t value_ = 0;
  CorrelationId correlation_ = 0;
  const Arguments* arguments_ = nullptr;
};

}  // namespace pitwall
