// Samples one thread of another process.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "analyzer/record/sample/proc_files.h"
#include "analyzer/record/sample/sample_log.h"
#include "analyzer/record/sample/thread_state.h"
#include "analyzer/record/sample/trace_clock.h"
#include "db/proc_files.h"

namespace pitwall::record {

// The time of a rate is the start of its interval, so that each sample is valid until the next; the time of a
// state (the current CPU) is when it was read.
class ThreadProbe {
 public:
  // `since_ns`: start of the interval of its first sample, not before its creation.
  ThreadProbe(pid_t tid, TimeNs since_ns) : tid_(tid), since_ns_(since_ns) {}

  // Counts from now on: it has been running before.
  void startNow(int task_folder);
  // Reads it from the folder /proc/PID/task. False when the thread has ended. The first call only reads; from
  // the second call on it has tracks (six tracks would be too many for a thread that lives for less than an
  // interval).
  bool sample(int task_folder, const TraceClock& clock, ProcessRef process, LockAddresses& locks,
              SampleLog& log);
  // Its name from now on, whatever the system calls it.
  void keepName(std::string name, SampleLog& log);
  // Its last rates are valid until `lived`, a part from 0 to 1 of the time from its last sample to `now_ns`; then
  // they are 0.
  void end(TimeNs now_ns, double lived, SampleLog& log);

  // CPU time from its sample before the last to its last, and at the rate of its last until `now_ns`.
  TimeNs ranNs() const { return ran_ns_; }
  double wouldRunNs(TimeNs now_ns) const;
  bool hasTracks() const { return times_seen_ > 1; }
  // Its row in the log, which is made at the first call.
  ThreadRef row(int task_folder, ProcessRef process, SampleLog& log);

 private:
  struct Series {
    SeriesRef cpu, waiting, forced, voluntary, cpu_number, state;
  };
  // A share of an interval. The kernel counts late by up to a tick; the excess of one interval goes into the
  // next.
  struct Share {
    TimeNs total_ns = 0;
    TimeNs reported_ns = 0;
    double last = 0;
    double over(TimeNs from_ns, TimeNs to_ns);
  };
  void makeTracks(int task_folder, ProcessRef process, SampleLog& log);
  bool read(host::RepeatedFile& file, int task_folder, const char* name, std::string& text) const;
  bool readSwitches(int task_folder);
  void readState(int task_folder, char letter, LockAddresses& locks);

  pid_t tid_;
  TimeNs since_ns_;
  int times_seen_ = 0;
  Share run_, wait_;
  TimeNs ran_ns_ = 0;
  std::int64_t timeslices_ = -1;
  std::int64_t voluntary_ = 0, forced_ = 0;
  std::int64_t reported_voluntary_ = 0, reported_forced_ = 0;
  int cpu_ = -1;
  ThreadState state_ = ThreadState::running;
  bool syscall_readable_ = true;
  bool name_kept_ = false;
  std::optional<ThreadRef> thread_;
  Series series_;
  host::RepeatedFile schedstat_, stat_, status_, syscall_;
};

}  // namespace pitwall::record
