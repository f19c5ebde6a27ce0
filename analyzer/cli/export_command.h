// `pitwall export`: a trace for other tools.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace pitwall::cli {

struct ExportArguments {
  std::string trace;
  std::string format = "chrome";
  std::string output;
  std::string range;
  std::string table;
  int rank = -1;
  bool plain_mxnet = false;
};

// Declares the subcommand; `arguments` outlives the parsing.
CLI::App* addExport(CLI::App& app, ExportArguments& arguments);
// Returns the exit code; 130 when interrupted.
int exportTraceFile(const ExportArguments& arguments);

}  // namespace pitwall::cli
