// `pitwall tune`: arguments and output.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace pitwall::cli {

struct TuneArguments {
  std::vector<std::string> command;  // to run, with its arguments
  std::string output;                // folder
  std::string format = "text";
  std::vector<std::string> parameters;
  std::string metric;
  bool lower = false;
  std::string keep;
  bool keep_lower = false;
  std::string within = "0.5%";
  std::string budget = "30m";
  int runs = std::numeric_limits<int>::max();
  double timeout_s = 0;
  double wait_s = 20;
  double min_gain_percent = 1;
  std::string work_folder;
  std::string launcher;
  std::uint64_t seed = 1;
  bool restart = false;
  bool no_ledger = false;
  bool ledger = false;  // print it instead of a search
  bool quiet = false;
};

// Declares the subcommand; `arguments` outlives the parsing.
CLI::App* addTune(CLI::App& app, TuneArguments& arguments);
// Returns the exit code.
int tune(const TuneArguments& arguments);

}  // namespace pitwall::cli
