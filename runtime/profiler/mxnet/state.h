// The private state of an MxnetProfiler: its configuration and the recorded data.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/mutex.h"
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

  bool wants(const Class& what) const PITWALL_REQUIRES(mutex);
  Status openFile() PITWALL_REQUIRES(mutex);
  Status finishFile() PITWALL_REQUIRES(mutex);
  // Clears the cached texts and rows of events, series and statistics.
  void clearCaches() PITWALL_REQUIRES(mutex);
  // Clears all recorded data, for a new recording.
  void forgetRecorded() PITWALL_REQUIRES(mutex);

  Profiler& recorder;  // synchronises itself

  Mutex mutex;  // taken after the recorder's locks
  Config config PITWALL_GUARDED_BY(mutex);
  bool running PITWALL_GUARDED_BY(mutex) = false;
  bool paused PITWALL_GUARDED_BY(mutex) = false;
  bool has_run PITWALL_GUARDED_BY(mutex) = false;
  bool own_recording PITWALL_GUARDED_BY(mutex) = false;
  ChromeFile file PITWALL_GUARDED_BY(mutex);
  Status file_status PITWALL_GUARDED_BY(mutex);
  AggregateStats stats PITWALL_GUARDED_BY(mutex);
  Ticks last_dump PITWALL_GUARDED_BY(mutex) = 0;

  std::int64_t calls PITWALL_GUARDED_BY(mutex) = 0;
  std::int64_t calls_in_progress PITWALL_GUARDED_BY(mutex) = 0;
  // By track: domain, name.
  std::map<std::string, std::pair<std::string, std::string>> counter_names PITWALL_GUARDED_BY(mutex);

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

  Kind& kindOf(const Names& names, const pitwall::Event& event) PITWALL_REQUIRES(mutex);
  MemoryRow& memoryRow(const std::string& track) PITWALL_REQUIRES(mutex);
  void write(const Kind& kind, const ChromeFile::Span& span) PITWALL_REQUIRES(mutex);
  void sample(Series& series, const CounterSample& sample) PITWALL_REQUIRES(mutex);
  void countMemory() PITWALL_REQUIRES(mutex);
  void countCalls() PITWALL_REQUIRES(mutex);
  static std::string membersOf(const OperatorFacts& facts);

  std::unordered_map<std::uint64_t, Kind> kinds_
      PITWALL_GUARDED_BY(mutex);  // by name, kind, and arguments or operator
  std::map<std::string, MemoryRow> memory_rows_ PITWALL_GUARDED_BY(mutex);       // by track
  std::map<std::string, DeviceMemory> device_memory_ PITWALL_GUARDED_BY(mutex);  // by device: "cpu/0"
  Series calls_ PITWALL_GUARDED_BY(mutex){"MXNET_C_API", "MXNet C API Calls"};
  Series concurrency_ PITWALL_GUARDED_BY(mutex){"MXNET_C_API", "MXNet C API Concurrency"};
  std::map<std::string, Series> own_counters_ PITWALL_GUARDED_BY(mutex);  // by track
  std::vector<MemorySample> memory_samples_ PITWALL_GUARDED_BY(mutex);
  std::vector<CallEdge> call_edges_ PITWALL_GUARDED_BY(mutex);
};

}  // namespace pitwall::mxnet
