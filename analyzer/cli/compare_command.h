// `pitwall compare`: what changed between two traces.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace pitwall::cli {

struct CompareArguments {
  std::string a, b;
  std::string format = "text";
  std::string output;
  double fail_on_regression = -1;  // percent; negative: never
};

// Declares the subcommand; `arguments` outlives the parsing.
CLI::App* addCompare(CLI::App& app, CompareArguments& arguments);
// Returns the exit code.
int compareTraces(const CompareArguments& arguments);

}  // namespace pitwall::cli
