// `pitwall record`: arguments and output.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
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

// Arguments after "--" of a command that runs a program belong to that program: for the command `name` puts them into `program`
// and returns how many arguments are left to be parsed. Other commands keep their arguments.
int cutProgram(int argc, const char* const* argv, std::string_view name, std::vector<std::string>& program);

// Runs the program and returns its exit code, or ends as it did, by the same signal.
int runRecord(const RecordArguments& arguments);

}  // namespace pitwall::cli
