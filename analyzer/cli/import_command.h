// `pitwall import`: another tool's trace into a trace file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace pitwall::cli {

struct ImportArguments {
  std::vector<std::string> inputs;
  std::string output;  // empty: the first input's name with .pitwall, in the current folder
};

// Declares the subcommand; `arguments` outlives the parsing.
CLI::App* addImport(CLI::App& app, ImportArguments& arguments);
// Returns the exit code; 130 when interrupted.
int importTraces(const ImportArguments& arguments);

}  // namespace pitwall::cli
