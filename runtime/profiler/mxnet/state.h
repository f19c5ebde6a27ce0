// The private state of an MxnetProfiler: its configuration and the recorded data.
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

class MxnetProfiler::State : public RecordingListener {
 public:
  explicit State(Profiler& the_recorder) : recorder(the_recorder) {}

  void events(const Names& names, TrackId track, std::span<const pitwall::Event> events) override;
  void counters(const Names& names, TrackId track, std::span<const CounterSample> samples) override;
  void drained() override;

  bool wants(const Class& what) const;
  Status openFile();
  Status finishFile();
  // Clears the cached texts and rows of events, series and statistics.
  void clearCaches();

  // Synchronises itself. All else is guarded by mutex, which is taken after the recorder's locks.
  Profiler& recorder;

  std::mutex mutex;
  Config config;
  bool running = false, paused = false, has_run = false, output = false, own_recording = false;
  ChromeFile file;
  Status file_status;
  AggregateStats stats;
  Ticks last_dump = 0;

  std::int64_t calls = 0, calls_in_progress = 0;
  std::map<std::string, std::pair<std::string, std::string>> counter_names;  // by track: domain, name

  // Clears all recorded data, for a new recording.
  void forgetRecorded();

 private:
  // The common data of events with one name and arguments, or of one operator.
  struct Kind {
    std::string name;
    Class what;
    ChromeFile::Label label;
    AggregateStats::Entry* statistics = nullptr;
  };
  // A counter of the file and the statistics.
  struct Series {
    std::string category, name;
    std::optional<ChromeFile::Label> label = {};
    AggregateStats::Entry* statistics = nullptr;
  };
  // The sum of a device's tags.
  struct DeviceMemory {
    Series series;
    double live_bytes = 0;
  };
  // A row of memory: the live bytes of a tag, or the bytes that a pool has from the system.
  struct MemoryRow {
    DeviceMemory* live_on;  // nullptr for a pool
    Series series;
    double bytes = 0;
  };
  // Of one drain, track by track and thread by thread; sorted at its end.
  struct MemorySample {
    MemoryRow* row;
    CounterSample at;
  };
  struct CallEdge {
    TimeNs time_ns;
    int change;  // of the calls in progress
  };

  Kind& kindOf(const Names& names, const pitwall::Event& event);
  MemoryRow& memoryRow(const std::string& track);
  void write(const Kind& kind, const ChromeFile::Span& span);
  void sample(Series& series, const CounterSample& sample);
  void countMemory();
  void countCalls();
  static std::string membersOf(const OperatorFacts& facts);

  std::unordered_map<std::uint64_t, Kind> kinds_;      // by name, kind, and arguments or operator
  std::map<std::string, MemoryRow> memory_rows_;       // by track
  std::map<std::string, DeviceMemory> device_memory_;  // by device: "cpu/0"
  Series calls_{"MXNET_C_API", "MXNet C API Calls"};
  Series concurrency_{"MXNET_C_API", "MXNet C API Concurrency"};
  std::map<std::string, Series> own_counters_;  // by track
  std::vector<MemorySample> memory_samples_;
  std::vector<CallEdge> call_edges_;
};

}  // namespace pitwall::mxnet
