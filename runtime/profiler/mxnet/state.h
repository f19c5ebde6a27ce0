// What an MxnetProfiler hides: its configuration, and what it has heard.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/mxnet_profiler.h"
#include "runtime/profiler/mxnet/aggregate_stats.h"
#include "runtime/profiler/mxnet/chrome_file.h"
#include "runtime/profiler/mxnet/classify.h"
#include "runtime/profiler/mxnet/config.h"

namespace pitwall::mxnet {

class MxnetProfiler::State : public RecordingTap {
 public:
  explicit State(Profiler& the_recorder) : recorder(the_recorder) {}

  void events(const Names& names, TrackId track, std::span<const pitwall::Event> events) override;
  void counters(const Names& names, TrackId track, std::span<const CounterSample> samples) override;
  void drained() override;

  bool wants(const Class& what) const;
  void write(const Class& what, const ChromeFile::Item& item);
  void sample(const Class& what, const std::string& name, const CounterSample& sample);
  void countMemory();
  void countCalls();
  Status finishFile();
  std::string shapesAndLayer(const Names& names, const pitwall::Event& event) const;

  // Synchronises itself. All else is guarded by mutex, which is taken after the recorder's locks.
  Profiler& recorder;

  std::mutex mutex;
  Config config;
  bool running = false, paused = false, has_run = false, output = false, own_recording = false;
  ChromeFile file;
  Status file_status;
  AggregateStats stats;
  Ticks last_dump = 0;
  struct Kind {
    std::string name;
    Class what;
  };
  std::unordered_map<std::uint64_t, Kind> kinds;  // by name, arguments and kind of an event
  std::map<std::string, double> live_bytes;       // of each tag
  // Of one drain, track by track and thread by thread; sorted when all of it has come.
  struct MemorySample {
    std::string of;  // tag or pool
    bool live;       // else what a pool has from the system
    CounterSample at;
  };
  struct CallEdge {
    TimeNs time_ns;
    int change;  // of the calls in progress
  };
  std::vector<MemorySample> memory_samples;
  std::vector<CallEdge> call_edges;
  std::int64_t calls = 0, calls_in_progress = 0;
  std::map<std::string, std::pair<std::string, std::string>> counter_names;  // by track: domain, name
};

}  // namespace pitwall::mxnet
