// `pitwall compare`: what changed between two traces, or two sets of them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace pitwall::cli {

// Stands for "--", which the parser of arguments would take away.
inline constexpr char kBetweenSides[] = "\x1e";

struct CompareArguments {
  std::vector<std::string> traces;  // A and B, or all of A, kBetweenSides and all of B
  std::string format = "text";
  std::string output;
  double fail_on_regression = -1;  // percent; negative: never
};

// Replaces "--" in the arguments of `pitwall compare`; options may be on both sides of it.
void markSides(int argc, char** argv);

// Declares the subcommand; `arguments` outlives the parsing.
CLI::App* addCompare(CLI::App& app, CompareArguments& arguments);
// Returns the exit code.
int compareTraces(const CompareArguments& arguments);

}  // namespace pitwall::cli
