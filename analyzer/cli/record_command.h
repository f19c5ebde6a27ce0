// `pitwall record`: arguments and output.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace pitwall::cli {

struct RecordArguments {
  std::vector<std::string> command;  // to record, with its arguments
  std::string output;
  double sample_hz = 20;
  std::optional<double> duration_s;
  std::optional<double> last_s;
  std::vector<std::string> only_domains;
  bool onednn = false;
  std::string framework = "auto";
  std::string stacks = "auto";
  std::optional<int> pid;
  bool wait_all = false;
  bool keep_parts = false;
  bool quiet = false;
};

CLI::App* addRecord(CLI::App& app, RecordArguments& arguments);

// Arguments after "--" of `pitwall record` belong to the program: puts it into arguments.command and returns
// how many arguments are left to be parsed. Other commands keep their arguments.
int cutCommand(int argc, const char* const* argv, RecordArguments& arguments);

// Runs the program and returns its exit code, or ends as it did, by the same signal.
int runRecord(const RecordArguments& arguments);

}  // namespace pitwall::cli
