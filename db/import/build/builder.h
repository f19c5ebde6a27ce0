// Sits between a reader and the sink: creates tracks, shifts times, computes nesting, keeps the summary.
//
// Readers give times in nanoseconds of their input's own clock. Events are buffered (half a million at most)
// so that time 0 can be the earliest of them and names that come late in a file are still used; then they are
// flushed to the sink track by track. A larger file is flushed several times.
//
// Data kept across flushes is bounded for inputs of any size: tracks, distinct names and arguments, arrows
// that wait for their end, iteration marks. What exceeds a bound is merged or left out, and counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/import.h"
#include "db/import/build/phases.h"
#include "db/import/input/recent_texts.h"
#include "db/sink.h"

namespace pitwall::import {

// Handles of the builder; the sink's ids are created at the first flush.
struct ProcessRef {
  std::size_t index = 0;
};
struct DeviceRef {
  std::size_t index = 0;
};
struct TrackRef {
  std::size_t index = 0;
};

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);
inline constexpr std::size_t kOwner = static_cast<std::size_t>(-2);

class Builder {
 public:
  Builder(TraceSink& sink, ImportSummary& summary) : sink_(sink), summary_(summary), phases_(*this) {}

  // --- Counting ---
  ImportSummary& summary() { return summary_; }
  ImportedInput& input() { return summary_.inputs.back(); }
  // The counter of a term of the file itself; the reference stays valid. The number of terms is bounded.
  std::int64_t& record(std::string_view what);
  // The counters themselves, to avoid a lookup on frequent events. The references stay valid.
  ImportCount& repairedCounter(std::string_view what);
  ImportCount& droppedCounter(std::string_view what);
  void notUnderstood(std::string_view what, std::string_view example);
  void repaired(std::string_view what, std::string_view example);
  void dropped(std::string_view what, std::string_view example);
  // The same where the example is expensive: computed once.
  template <class Example>
  requires std::is_invocable_r_v<std::string, Example>
  void repaired(std::string_view what, const Example& example) { tally(repairedCounter(what), example); }
  template <class Example>
  requires std::is_invocable_r_v<std::string, Example>
  void dropped(std::string_view what, const Example& example) { tally(droppedCounter(what), example); }
  template <class Example>
  static void tally(ImportCount& counter, const Example& example) {
    if (counter.count == 0) setExample(counter, example());
    ++counter.count;
  }
  void note(std::string text);
  void damaged(std::string text);  // the current input ends early; the first text stays

  // --- Dimensions; equal keys give equal handles within one input ---
  ProcessRef process(std::string_view key);
  void nameProcess(ProcessRef process, std::string_view name);
  void setPid(ProcessRef process, std::int64_t pid) { processes_[process.index].pid = pid; }
  void rank(int rank);  // of all processes of this input
  int rankOr(int unknown) const { return has_rank_ ? rank_ : unknown; }
  DeviceRef device(std::string_view kind, int index);
  void nameDevice(DeviceRef device, std::string_view name, Bytes memory_bytes);
  TrackRef thread(ProcessRef process, std::string_view key);
  void nameThread(TrackRef thread, std::string_view name);
  TrackRef stream(ProcessRef process, DeviceRef device, std::string_view stream,
                  std::string_view suffix = {});
  // The same where the file does not say which process uses the device: the one set by ownerProcess() before
  // the stream's first flush.
  TrackRef stream(DeviceRef device, std::string_view stream, std::string_view suffix = {});
  void ownerProcess(ProcessRef process) {
    if (owner_ == kNone) owner_ = process.index;
  }
  // A row that is neither a thread nor a stream: asynchronous ranges, annotations.
  TrackRef lane(ProcessRef process, std::string_view name);
  TrackRef counter(ProcessRef process, std::string_view name, std::string_view unit);
  StringId name(std::string_view text);  // with invalid UTF-8 replaced
  // The text of Event.args, a JSON object; none when there are too many distinct ones.
  StringId args(std::string_view object);
  OperatorId facts(const OperatorFacts& facts);
  Phases& phases() { return phases_; }
  KernelId kernel(const KernelFacts& facts);
  void meta(std::string_view key, std::string_view value);

  // --- Data; times on the input's clock ---
  // Rejects (and counts) times out of range; a negative duration becomes 0 (counted). pushed_ns and ready_ns
  // are set here.
  bool add(TrackRef track, Event event);
  void sample(TrackRef track, std::int64_t time_ns, double value);
  void mark(std::int64_t index, std::int64_t time_ns);
  CorrelationId newCorrelation() { return ++correlation_; }
  CorrelationId newCorrelations(std::uint64_t count) {  // the first of so many
    correlation_ += count;
    return correlation_ - count + 1;
  }
  void depend(CorrelationId source, CorrelationId target, DependencyKind kind);
  // One end of an arrow between the ranges that enclose the two points.
  struct FlowPoint {
    TrackRef track;
    std::int64_t time_ns = 0;
    std::uint64_t key = 0;      // hash of the arrow's name
    int order = 0;              // 0 start, 1 step, 2 end
    bool next_range = false;    // binds to the range that begins next on the track
    Phase phase = Phase::none;  // of the operator at this end, where the arrow gives it
  };
  void flow(const FlowPoint& point);

  // --- Input by input ---
  void beginInput();
  // The wall-clock time of this input's time 0, ns since 1970. May be called late.
  void wallClock(std::int64_t zero_unix_ns) { input_zero_unix_ns_ = zero_unix_ns, has_wall_clock_ = true; }
  // The trace time of this input's time 0 (its first event), set before its first event; its processes' names
  // then begin with the rank, and `rank` is theirs unless the file gives another one.
  void place(TimeNs begin_ns, std::optional<int> rank);
  // No event of this input begins before this time; for readers that know it beforehand.
  void expectFrom(std::int64_t time_ns);
  std::int64_t latest() const { return latest_; }  // end of the last event of this input; its own clock
  std::int64_t earliest() const { return earliest_; }
  void endInput();
  void finish();  // writes the meta rows that need all inputs

  // --- Rows of a Pitwall trace, which are passed to the sink directly ---
  TraceSink& sink() { return sink_; }
  bool isFirstInput() const { return input_number_ == 1; }
  // Extends the span by these times of the input; returns the trace time of the input's time 0.
  TimeNs placeRows(TimeNs first_ns, TimeNs last_ns);
  void countEvents(EventKind kind, std::int64_t count) { kinds_[static_cast<std::uint8_t>(kind)] += count; }
  void countSamples(std::int64_t count) { sample_count_ += count; }
  void countDependencies(std::int64_t count) { dependency_count_ += count; }
  std::string shownName(int rank, std::string_view process) const;

 private:
  struct Process {
    std::string key;
    std::string name;
    std::int64_t pid = 0;
    ProcessId id;
  };
  struct Device {
    std::string kind;
    int index = 0;
    std::string name;
    Bytes memory_bytes = 0;
    DeviceId id;
  };
  static constexpr std::size_t kHeldEvents = std::size_t{1} << 19;

  struct Track {
    TrackKind kind = TrackKind::thread;
    std::size_t process = kNone;
    std::size_t device = kNone;
    std::string thread_key;  // of a thread; else empty
    std::string name;
    std::string unit;
    TrackId id;
    std::vector<Event> events;
    std::vector<CounterSample> samples;
    std::vector<std::int64_t> open;  // ends of ranges that may enclose events of the next flush
    Phases::Thread phases;
  };

  static void setExample(ImportCount& counter, std::string_view example);
  TrackRef track(std::string key, Track fresh);
  void flush();
  void flushIfFull() {
    if (++held_ >= kHeldEvents) flush();
  }
  void boundFlowSources();
  void boundMemory();
  StringId distinct(std::string_view text, std::string_view what);
  void extend(std::int64_t start_ns, std::int64_t end_ns);
  void chooseZero();
  void emit(Track& track);
  void nest(Track& track);
  void bindFlows();
  CorrelationId bind(Track& track, const FlowPoint& point);
  void count(ImportCount& count, std::string_view example);
  ProcessId idOf(std::size_t process);
  DeviceId idOf(DeviceRef device);
  TraceSink& sink_;
  ImportSummary& summary_;
  std::vector<Process> processes_;
  std::vector<Device> devices_;
  std::vector<Track> tracks_;
  std::unordered_map<std::string, std::size_t> process_keys_;
  std::unordered_map<std::string, std::size_t> track_keys_;
  std::unordered_map<std::string, std::size_t> device_keys_;
  std::unordered_map<std::string, OperatorId> facts_;
  std::vector<FlowPoint> flows_;
  std::vector<Dependency> dependencies_;
  std::vector<IterationMark> marks_;
  struct FlowSource {
    CorrelationId id = 0;
    bool ended = false;
  };
  std::unordered_map<std::uint64_t, FlowSource> flow_sources_;
  std::vector<Event> sorted_;  // scratch of nest()
  RecentTexts<StringId, 4096> names_;
  Phases phases_;
  StringId newest_text_;            // of the texts given to the sink
  std::size_t distinct_bytes_ = 0;  // of those texts
  std::size_t kernels_ = 0;         // different facts of kernels
  std::int64_t kinds_[256] = {};
  std::int64_t sample_count_ = 0;
  std::int64_t dependency_count_ = 0;
  std::size_t held_ = 0;
  std::size_t owner_ = kNone;
  CorrelationId correlation_ = 0;
  int rank_ = 0;
  int input_number_ = 0;
  std::string scratch_;

  std::optional<TimeNs> placed_;
  bool has_rank_ = false;
  bool has_zero_ = false;
  std::int64_t zero_ = 0;  // trace time 0 on this input's clock
  bool has_wall_clock_ = false;
  std::int64_t input_zero_unix_ns_ = 0;
  bool trace_has_wall_clock_ = false;
  std::int64_t trace_zero_unix_ns_ = 0;
  bool has_span_ = false;
  std::int64_t earliest_ = 0;
  std::int64_t latest_ = 0;
  bool has_total_span_ = false;
};

}  // namespace pitwall::import
