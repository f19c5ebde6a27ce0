// One recording, from the start of the program to the finished trace.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/record/capture/output_capture.h"
#include "analyzer/record/launch/child.h"
#include "analyzer/record/launch/program.h"
#include "analyzer/record/run/sampled_trace.h"
#include "analyzer/record/run/signals.h"
#include "analyzer/record_program.h"
#include "db/result.h"
#include "db/units.h"

namespace pitwall::record {

// One recording. run() is called once.
class Recording {
 public:
  explicit Recording(const RecordOptions& options) : options_(options) {}
  Result<Recorded> run();

 private:
  Status prepare();
  OutputName nameFor(pid_t pid) const;
  std::vector<std::string> environmentFor(pid_t pid, std::vector<std::string>& notes) const;
  Status openTrace();
  void abandonTrace();
  void startSampler();
  void writeProgram();
  Status startProgram(const BlockedSignals& signals);
  void follow(const BlockedSignals& signals);
  void take(const siginfo_t& signal);
  void reap();
  void work(TimeNs now_ns);
  TimeNs nextWork() const;
  bool over() const;
  void finishTrace();
  void mergeTrace();
  void writeOomKills();
  void writeProgramEnd();
  void noteContinuing();
  TimeNs now() const { return trace_.clock().now(); }

  const RecordOptions& options_;
  std::string program_;
  std::string injection_;
  std::string name_template_;
  std::vector<std::string> own_environment_;
  std::optional<int> rank_;

  SampledTrace trace_;
  std::string oom_kill_file_;
  std::optional<std::int64_t> oom_kills_, host_oom_kills_;  // before this recording
  TimeNs children_cpu_ns_ = 0;                              // of processes before this recording
  std::unique_ptr<OutputCapture> capture_;
  pid_t program_pid_ = -1;
  bool tracing_ = false;  // until the trace is finished
  bool program_ended_ = false;
  int interrupts_ = 0;
  bool merge_interrupted_ = false;
  Recorded result_;
};

}  // namespace pitwall::record
