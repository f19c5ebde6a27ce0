// Searches for settings that make a program faster: runs it with and without them, in pairs, and keeps what helps.
// docs/tuning.md documents it for users.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "db/result.h"

namespace pitwall {

struct TuneOptions {
  std::vector<std::string>
      command;  // program and arguments; {NAME} is replaced by a parameter, {TRIAL} by the trial's number
  std::vector<std::string> launcher;    // put before it: "mpirun", "-n", "4"
  std::string folder;                   // for everything that is written; "" = PROGRAM.tune, here
  std::string work_folder;              // in which trials run; {TRIAL} as above; "" = here
  std::vector<std::string> parameters;  // NAME=1..8, NAME=16,32,64
  std::string
      metric;  // a regular expression with a group; "wall", "iterations"; "" = iterations where there are any, else wall
  bool lower_is_better = false;  // of the regular expression
  std::string keep;         // a regular expression with a group: a result that must not get worse; "" = none
  bool keep_lower = false;  // of that result less is better
  double within = 0.005;    // how much worse it may be, relative
  double budget_s = 1800;   // of all runs together
  int most_runs = std::numeric_limits<int>::max();
  double timeout_s = 0;    // of one run; 0 = ten times the first one and 30 seconds
  double wait_s = 20;      // for other programs that use the CPUs, before a round, at most
  double min_gain = 0.01;  // smaller gains are not kept
  std::uint64_t seed = 1;  // of the order of runs
  bool restart = false;    // forget what an interrupted search has in the folder
  bool ledger = true;      // record predictions and what was measured in the user's ledger
  std::string executable;  // path of this command, which records the program
  std::string version;
};

// A row of the result: one candidate, or a combination of several.
struct TuneRow {
  std::string settings;                          // "OMP_NUM_THREADS=4"
  std::string rule;                              // that proposes them; empty = none
  double predicted_low = 0, predicted_high = 0;  // how many times as fast; 0 = not predicted
  std::string method;                            // of the prediction
  // Measured: the median ratio of pairs of runs in random order, after / before in the direction in which more is better. Before
  // are the settings `beside`.
  std::string beside;  // "" = the unchanged program
  int pairs = 0;
  int screened_runs = 0;  // where there are no pairs: `ratio` is of the faster runs of the screening
  double ratio = 1;
  bool has_interval = false;
  double low = 0, high = 0;
  double before = 0, after = 0;  // the metric in the middle pair
  std::string conclusion;        // "kept", "no gain", ...
  std::string why;
  bool is_kept = false;  // in the best settings
  bool is_combination = false;
};

struct TuneOutcome {
  std::string folder;  // with best.env, result.json, first.pitwall and best.pitwall
  std::string metric;  // its name, with its unit where that is known
  bool lower_is_better = false;
  std::vector<TuneRow> rows;  // without the unchanged program and steps on the way to the best combination
  int best = -1;              // place in rows; -1 = the unchanged program
  std::vector<std::string> best_command;  // with the best values put in
  std::string best_env;                   // "" = there is nothing to set
  std::string first_trace, best_trace;    // "" = not recorded
  int runs = 0;
  double seconds = 0;  // of all runs
  std::string ended;   // why before its time; empty = complete
  bool interrupted = false;
  std::vector<std::string> notes;
};

struct TuneProgress {
  std::function<void(const std::string&)> note;  // a sentence, once
  std::function<void(const std::string&)>
      status;  // what runs, and what is known so far; replaces the one before
};

// Blocks the calling thread. Call while this process has one thread; signals that end a process end the search, with what is
// known so far. Errors: invalidInput (options), notFound, unsupported, io; and when the unchanged program fails or has no metric.
Result<TuneOutcome> tuneProgram(const TuneOptions& options, const TuneProgress& progress);

// The table, and where everything is.
std::string tuneAsText(const TuneOutcome& outcome);
// The same for programs; docs/tuning.md describes the fields.
std::string tuneAsJson(const TuneOutcome& outcome);

}  // namespace pitwall
