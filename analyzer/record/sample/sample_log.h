// Buffers samples for the sink until write(), so that late thread names are used and the sink is called
// rarely. As a flight recorder it keeps only the last seconds and writes them at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/sink.h"

namespace pitwall::record {

// Handles; valid as long as the log.
struct ProcessRef {
  std::uint32_t index = 0;
};
struct ThreadRef {
  std::uint32_t index = 0;
};
struct DeviceRef {
  std::uint32_t index = 0;
};
struct SeriesRef {
  std::uint32_t index = 0;
};

class SampleLog {
 public:
  // `window_ns`: keep only that much before the end; absent = everything. The sink outlives the log.
  SampleLog(TraceSink& sink, std::optional<TimeNs> window_ns) : sink_(sink), window_ns_(window_ns) {}

  ProcessRef process(ProcessInfo info);
  ThreadRef thread(ProcessRef process, std::int64_t tid);
  void nameThread(ThreadRef thread, std::string name);  // no effect after the thread has been written
  DeviceRef device(DeviceInfo info);

  // Creates counter tracks of a process, of one of its threads, of a device that it uses.
  SeriesRef series(ProcessRef process, std::string name, std::string unit);
  SeriesRef series(ThreadRef thread, std::string name, std::string unit);
  SeriesRef series(ProcessRef process, DeviceRef device, std::string name, std::string unit);

  void add(SeriesRef series, TimeNs time_ns, double value) {
    series_[series.index].pending.push_back({time_ns, value});
  }

  // Writes pending samples to the sink; a flight recorder only drops samples older than its window.
  void write(TimeNs now_ns);
  // Writes all remaining samples to the sink. `now_ns` ends the flight recorder's window.
  void writeAll(TimeNs now_ns);

  TraceSink& sink() { return sink_; }
  std::int64_t samplesWritten() const { return samples_written_; }  // samples, to the sink

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Process {
    ProcessInfo info;
    ProcessId id;
  };
  struct Thread {
    std::uint32_t process = kNone;
    std::int64_t tid = 0;
    std::string name;
    ThreadId id;
  };
  struct Device {
    DeviceInfo info;
    DeviceId id;
  };
  struct Series {
    std::uint32_t process = kNone, thread = kNone, device = kNone;
    std::string name, unit;
    TrackId id;
    std::vector<CounterSample> pending;
  };

  void forgetBefore(TimeNs time_ns);
  void writeSeries(Series& series);
  ProcessId idOf(std::uint32_t process);

  TraceSink& sink_;
  std::optional<TimeNs> window_ns_;
  std::int64_t samples_written_ = 0;
  std::vector<Process> processes_;
  std::vector<Thread> threads_;
  std::vector<Device> devices_;
  std::vector<Series> series_;
};

}  // namespace pitwall::record
