// Runs one trial: a program with some variables set, its output in a file, until it ends or has taken too long.
#pragma once

#include <string>
#include <vector>

#include "analyzer/record/run/signals.h"
#include "analyzer/tune/candidate.h"
#include "db/result.h"

namespace pitwall::tuning {

struct TrialSetup {
  std::vector<std::string> command;
  Assignments environment;  // beside ours
  std::string folder;       // to run in, made when it is missing; "" = ours
  std::string log;          // file for its output and errors
  std::string group_file;   // gets the number of its process group; "" = none
  double most_seconds = 0;  // 0 = no limit
};

struct TrialEnd {
  double seconds = 0;        // wall time
  std::string cause;         // why it is no measurement; empty = it ended with exit code 0
  std::string output;        // the end of what it printed
  bool interrupted = false;  // by a signal to this process; the trial was ended
  // CPUs that other programs used meanwhile, and that the host of this virtual machine took; 0 where unknown.
  double others_cpus = 0, steal_cpus = 0;
  bool disturbed = false;  // one of them is more than 5 % of the machine's CPUs
};

// Ends what the program leaves running in its process group. Errors, before the program has run: io (log, folder), notFound,
// unsupported: the same would happen in every trial.
Result<TrialEnd> runTrial(const TrialSetup& setup, const record::BlockedSignals& signals);

// The end of what a trial has printed, at most 64 MiB; "" when the file cannot be read.
std::string outputOf(const std::string& log);

// Waits while other programs use the CPUs, at most `most_seconds`. Returns how long; sets `interrupted` as above.
double awaitQuiet(double most_seconds, const record::BlockedSignals& signals, bool& interrupted);

}  // namespace pitwall::tuning
