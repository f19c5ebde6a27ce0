// `pitwall query`: SQL over a trace.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace pitwall::cli {

struct QueryArguments {
  std::string trace;
  std::string sql;
  std::string format = "auto";
  bool schema = false;
};

// Declares the subcommand; `arguments` outlives the parsing.
CLI::App* addQuery(CLI::App& app, QueryArguments& arguments);
// Returns the exit code.
int queryTrace(const QueryArguments& arguments);

}  // namespace pitwall::cli
