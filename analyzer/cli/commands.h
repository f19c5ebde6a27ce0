// The subcommands of `pitwall`. Each takes its parsed arguments and returns the exit code.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyzer/report.h"
#include "db/result.h"

namespace pitwall::cli {

// Documented by `pitwall --help`.
enum ExitCode : int {
  kDone = 0,
  kFindings = 1,         // findings at or above --fail-on
  kUsage = 2,            // wrong arguments, a bad rule or setting, an output file that cannot be written
  kUnreadableTrace = 3,  // no trace, not a trace, damaged, or written by a newer version
  kInternal = 4,
  kRegression = 5,      // compare --fail-on-regression: slower than allowed
  kNotComparable = 6,   // compare --fail-on-regression: the traces are of different machines or programs
  kNotPredictable = 7,  // simulate: the unchanged trace does not replay as it was recorded
};

// Prints "pitwall: message" to standard error and returns `code`. Control characters are escaped here and in notes: a name in
// the message may hold any.
int reportError(const std::string& message, ExitCode code);

// What a command ends with after such an error of a trace or of its output.
ExitCode exitCodeOf(const Error& error);

// Prints "pitwall: note: note" to standard error.
void reportNote(const std::string& note);

// Reports an error when output could not be written. Returns the exit code.
int flushOutput();

// To standard output, or to the file when `path` names one, which is none of `inputs`. Returns the exit code.
int printOrWrite(const std::string& text, const std::string& path, const std::vector<std::string>& inputs);

struct AnalyzeArguments {
  std::string trace;
  std::string format = "text";
  std::string output;    // of the report; empty: standard output
  std::string env_file;  // empty: the trace's path with .env
  std::string env_format = "bash";
  bool write_env = true;
  std::string fail_on;  // empty: never
  std::vector<std::string> rule_folders;
  std::vector<std::string> thresholds;  // "rule.threshold=value"
  std::vector<std::string> disabled;    // ids of rules
  std::string rule_config;              // TOML; empty = none
  std::vector<std::string> trials;      // traces of the same program with other numbers of threads
  bool sql = false;                     // of each finding, to be run by 'pitwall query'
  bool verbose = false;                 // each rule that needs more data or found nothing
  bool timing = false;                  // print how long each analysis and rule took
};
int analyze(const AnalyzeArguments& arguments);

// An empty name prints the whole catalogue.
int env(const std::string& name);

int rulesList(const std::vector<std::string>& folders);
int rulesShow(const std::string& id, const std::vector<std::string>& folders);
int rulesCheck(const std::vector<std::string>& files);

}  // namespace pitwall::cli
