// Runs any program and records it from outside: samples its processes and GPUs, captures oneDNN's verbose
// lines from its output, loads the injection library into it, and merges all of this into one trace file.
// docs/recording.md documents it for users, including the interface between recorder and recorded program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/result.h"
#include "db/units.h"

namespace pitwall {

// Which stacks are sampled.
enum class StackMode : std::uint8_t {
  off,
  automatic,  // Python functions of threads that run Python, native functions of the others
  python,     // of threads that run Python only
  native,     // native functions of all threads
};

struct RecordOptions {
  std::vector<std::string> command;       // program and arguments
  std::optional<int> pid;                 // instead: of a running program to attach to
  std::string output;                     // template: %p process id, %r rank, %h host; "" = PROGRAM.pitwall
  double sample_hz = 20;                  // 0 = do not sample
  std::optional<double> duration_s;       // record this long; the program continues
  std::optional<double> last_s;           // keep only this long before the end
  std::vector<std::string> only_domains;  // of NVTX; empty = all
  bool onednn = false;
  bool frameworks = true;  // PyTorch's operators in Python programs
  StackMode stacks = StackMode::automatic;
  double stack_hz = 100;    // at most; less when it would take too much CPU time
  bool wait_all = false;    // record until the last process has ended, not only the program itself
  bool keep_parts = false;  // do not delete the merged parts
  std::string executable;   // path of this command: the injection library is searched for beside it
  std::string producer;     // "pitwall 0.1.0"
};

struct Recorded {
  std::string trace;    // file that was written; "" when there is none
  int exit_code = 0;    // of the program
  int exit_signal = 0;  // that ended it; 0 = none
  double seconds = 0;   // of the recording
  int processes = 0;
  int most_threads = 0;               // at once, of all processes
  double sample_hz = 0;               // achieved
  std::vector<std::string> notes;     // what was not recorded and why; sentences
  std::vector<std::string> failures;  // of the recording, not of the program
};

// Returns when the program has ended (or, after a second ctrl-C, at once). Call while this process has one
// thread; meanwhile signals that end a process or are meant for it are forwarded, and this process becomes
// the parent of orphans of the program.
//
// With options.pid it samples that process until it ends, the duration is over or a signal ends the recording,
// and does not touch it.
//
// Errors, all before the program has done anything: notFound (no such program or process), unsupported (not executable, another user's),
// invalidInput (options), io (the output cannot be written). Once the program runs the recording cannot stop
// it: failures are in the result.
Result<Recorded> recordProgram(const RecordOptions& options);

}  // namespace pitwall
