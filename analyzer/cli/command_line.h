// All arguments of `pitwall`: --help, the man pages and the completions of shells are made from this declaration.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "analyzer/cli/calibrate_command.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/compare_command.h"
#include "analyzer/cli/export_command.h"
#include "analyzer/cli/import_command.h"
#include "analyzer/cli/query_command.h"
#include "analyzer/cli/record_command.h"
#include "analyzer/cli/simulate_command.h"
#include "analyzer/cli/tune_command.h"

namespace pitwall::cli {

class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Parses the arguments and runs the command that they name. Returns the exit code.
  int run(int argc, char** argv);

  const CLI::App& app() const { return app_; }

 private:
  void addEnv();
  void addRules();

  CLI::App app_{"Finds out why a deep-learning program is slow and which settings make it faster.",
                "pitwall"};
  AnalyzeArguments analyze_;
  ImportArguments import_;
  RecordArguments record_;
  CompareArguments compare_;
  ExportArguments export_;
  QueryArguments query_;
  SimulateArguments simulate_;
  TuneArguments tune_;
  std::string setting_;
  bool calibrating_ = false;
  std::vector<std::string> rule_folders_, rule_files_;
  std::string rule_;
  CLI::App* import_command_ = nullptr;
  CLI::App* record_command_ = nullptr;
  CLI::App* compare_command_ = nullptr;
  CLI::App* export_command_ = nullptr;
  CLI::App* query_command_ = nullptr;
  CLI::App* simulate_command_ = nullptr;
  CLI::App* tune_command_ = nullptr;
  CLI::App* env_command_ = nullptr;
  CLI::App* list_command_ = nullptr;
  CLI::App* show_command_ = nullptr;
  CLI::App* check_command_ = nullptr;
};

}  // namespace pitwall::cli
