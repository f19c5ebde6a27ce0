// Samples the machine while a program runs: its load, and the share of other programs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "analyzer/record/sample/host_load.h"
#include "analyzer/record/sample/sample_log.h"

namespace pitwall::record {

class HostProbe {
 public:
  // `root` is the program, whose control group may have a quota. `now_ns`: start of the first interval.
  HostProbe(pid_t root, TimeNs now_ns);

  bool hasTracks() const { return cpu_.has_value(); }
  void makeTracks(ProcessRef process, SampleLog& log);  // tracks belong to a process
  // `own_cpu_ns`: CPU time of the program and of the recorder so far.
  void sample(TimeNs now_ns, TimeNs own_cpu_ns, SampleLog& log);

 private:
  // Cumulative time in a state, as the kernel reports it; written as a share of each interval.
  struct Sum {
    std::optional<SeriesRef> series;
    TimeNs before_ns = 0;
    void add(std::optional<TimeNs> now_ns, TimeNs from_ns, double length_ns, SampleLog& log);
  };

  std::string throttle_file_;
  std::optional<HostLoad> load_;
  TimeNs since_ns_;
  TimeNs own_cpu_ns_ = 0;
  double others_left_ns_ = 0;  // below 0: time that ticks reported too late
  std::optional<SeriesRef> cpu_, steal_, others_, runnable_, huge_faults_;
  std::optional<std::int64_t> huge_faults_before_;
  Sum throttled_, cpu_pressure_, io_pressure_;
};

}  // namespace pitwall::record
