// `pitwall simulate`: what an iteration would take after changes.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace pitwall::cli {

struct SimulateArguments {
  std::string trace;
  std::vector<std::string> changes;
  std::string output;  // empty = no trace is written
  bool json = false;
};

// Declares the subcommand; `arguments` outlives the parsing.
CLI::App* addSimulate(CLI::App& app, SimulateArguments& arguments);
// Returns the exit code.
int simulateTrace(const SimulateArguments& arguments);

}  // namespace pitwall::cli
