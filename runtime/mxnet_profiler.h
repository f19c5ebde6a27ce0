// MXNet's profiler, as its Python module mx.profiler has it, on top of our recorder: set_config, set_state,
// pause, resume, dump and dumps; domains, tasks, frames, events, counters and markers; custom operators. The
// differences are in docs/profiler.md.
//
// It listens to the recording and starts one when nothing is recorded. It never changes how operators are
// bulked or scheduled. Every call from any thread unless stated otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "db/result.h"
#include "runtime/profiler.h"

namespace pitwall::mxnet {

enum class DumpsFormat : std::uint8_t { table, json };
enum class SortBy : std::uint8_t { total, avg, min, max, count };

struct DumpsOptions {
  bool reset = false;  // clear the statistics afterwards
  DumpsFormat format = DumpsFormat::table;
  SortBy sort_by = SortBy::total;
  bool ascending = false;
};

// The meaning of MXNET_PROFILER_MODE: "0" symbolic operators, "1" all operators, as the documentation has it;
// anything else is MXNet's own sum of bits, 1 symbolic, 2 imperative, 4 API, 8 memory.
struct ProfilerMode {
  bool symbolic = true, imperative = true, api = true, memory = true;
  std::string explanation;  // one sentence for the program's user
};
// Errors: invalidInput.
Result<ProfilerMode> parseProfilerMode(std::string_view text);

class MxnetProfiler {
 public:
  // `recorder` must outlive it.
  explicit MxnetProfiler(Profiler& recorder);
  ~MxnetProfiler();  // stops, and finishes the file
  MxnetProfiler(const MxnetProfiler&) = delete;
  MxnetProfiler& operator=(const MxnetProfiler&) = delete;

  // Keys of MXNet: profile_all, profile_symbolic, profile_imperative, profile_memory, profile_api (booleans),
  // filename, continuous_dump, dump_period (seconds, > 0), aggregate_stats, profile_process ("worker" alone);
  // and Pitwall's doubled_events: each operator written twice, as in MXNet. Missing keys have MXNet's
  // default. Replaces the previous configuration; while running, the old file is finished and a new one
  // begins. Errors: invalidInput, naming key and value; then nothing has changed.
  Status setConfig(std::span<const std::pair<std::string, std::string>> values);

  // "run" or "stop". Errors: invalidInput; io when the file cannot be written, which does not affect the
  // statistics.
  Status setState(std::string_view state);
  bool isRunning() const;

  void pause();  // events that end before resume() are left out
  void resume();

  // Writes all events so far to the file; `finished`: also ends it, until the next "run". Errors:
  // invalidInput when it has never run; io.
  Status dump(bool finished = true);

  // The statistics of what has been recorded so far, "" without aggregate_stats. The file is not touched.
  std::string dumps(const DumpsOptions& options = {});

 private:
  friend class Domain;
  friend class Counter;
  friend class CustomOperator;
  class State;
  std::unique_ptr<State> state_;
};

// --- objects; each belongs to its profiler, which must outlive it -----------------------------------------

class Domain;

// A span from start() to stop(), on any threads. stop() without start() has no effect.
class Span {
 public:
  void start();
  void stop();

 private:
  friend class Domain;
  Span(Profiler& recorder, SiteId site) : recorder_(&recorder), site_(site) {}
  Profiler* recorder_;
  SiteId site_;
  Ticks started_ = 0;
};
using Task = Span;
using Frame = Span;
using Event = Span;

class Counter {
 public:
  void setValue(std::int64_t value);
  void increment(std::int64_t by = 1) { change(by); }
  void decrement(std::int64_t by = 1) { change(-by); }

 private:
  friend class Domain;
  Counter(Profiler& recorder, SiteId site) : recorder_(&recorder), site_(site) {}
  void change(std::int64_t by);
  Profiler* recorder_;
  SiteId site_;
  std::shared_ptr<std::atomic<std::int64_t>> value_ = std::make_shared<std::atomic<std::int64_t>>(0);
};

enum class MarkerScope : std::uint8_t { global, process, thread };

class Marker {
 public:
  void mark(MarkerScope scope = MarkerScope::process);

 private:
  friend class Domain;
  Marker(Profiler& recorder, const SiteId (&sites)[3])
      : recorder_(&recorder), sites_{sites[0], sites[1], sites[2]} {}
  Profiler* recorder_;
  SiteId sites_[3];  // by scope
};

class Domain {
 public:
  Domain(MxnetProfiler& profiler, std::string name);
  Task newTask(std::string_view name) const { return span(name, "task", name_); }
  Frame newFrame(std::string_view name) const { return span(name, "frame", name_ + ",frame"); }
  Counter newCounter(std::string_view name, std::int64_t value = 0) const;
  Marker newMarker(std::string_view name) const;

 private:
  friend Event newEvent(MxnetProfiler& profiler, std::string_view name);
  friend class CustomOperator;
  Span span(std::string_view name, std::string_view object, const std::string& category) const;
  MxnetProfiler* profiler_;
  std::string name_;
};

// An event belongs to no domain; its category is "event".
Event newEvent(MxnetProfiler& profiler, std::string_view name);

// While it is alive, the work of its thread belongs to a custom operator: operators that the thread prepares
// are named "<type>::<operator>", and the time is the task "<type>::pure_python", or
// "_backward_<type>::pure_python". The name is MXNet's; the code here is C++. One thread; they nest.
class CustomOperator {
 public:
  enum class Pass : std::uint8_t { forward, backward };
  CustomOperator(MxnetProfiler& profiler, std::string_view type, Pass pass = Pass::forward);
  ~CustomOperator();
  CustomOperator(const CustomOperator&) = delete;
  CustomOperator& operator=(const CustomOperator&) = delete;

 private:
  Span span_;
  std::string outer_prefix_;
};

}  // namespace pitwall::mxnet
