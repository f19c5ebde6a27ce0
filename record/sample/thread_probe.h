// Samples one thread of another process.
#pragma once

#include <sys/types.h>

#include <string>

#include "record/sample/proc_files.h"
#include "record/sample/sample_log.h"
#include "record/sample/thread_state.h"
#include "record/sample/trace_clock.h"

namespace pitwall::record {

// A rate is stamped with the beginning of the interval that it covers, so that each sample holds until the
// next; a state (the CPU it is on) with the moment it was read.
class ThreadProbe {
 public:
  // `since_ns`: when the interval of its first sample begins, which is no earlier than its birth.
  ThreadProbe(pid_t tid, TimeNs since_ns) : tid_(tid), since_ns_(since_ns) {}

  // Reads it from the folder /proc/PID/task. False when the thread is gone. The first time only looks; from
  // the second time on it has tracks (a thread that lives for less than an interval is not worth six of
  // them).
  bool sample(int task_folder, const TraceClock& clock, ProcessRef process, SampleLog& log);
  // Its last rates hold until `now_ns`; then they are 0.
  void gone(TimeNs now_ns, SampleLog& log);

  bool hasTracks() const { return times_seen_ > 1; }

 private:
  struct Series {
    SeriesRef cpu, waiting, forced, voluntary, cpu_number, state;
  };
  // A share of an interval. The kernel counts late by up to a tick; what one interval could not hold goes
  // into the next.
  struct Share {
    TimeNs total_ns = 0;
    TimeNs told_ns = 0;
    double over(TimeNs from_ns, TimeNs to_ns);
  };
  void makeTracks(ProcessRef process, SampleLog& log);
  bool readSwitches(int task_folder);
  void readState(int task_folder, char letter);

  pid_t tid_;
  TimeNs since_ns_;
  int times_seen_ = 0;
  Share run_, wait_;
  std::int64_t slices_ = -1;
  std::int64_t voluntary_ = 0, forced_ = 0;
  std::int64_t told_voluntary_ = 0, told_forced_ = 0;
  int cpu_ = -1;
  ThreadState state_ = ThreadState::running;
  bool syscall_readable_ = true;
  ThreadRef thread_;
  Series series_;
};

}  // namespace pitwall::record
