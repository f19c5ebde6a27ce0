// Runs analyses and rules over a trace.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/report.h"
#include "db/reader.h"
#include "db/result.h"
#include "db/schema_docs.h"

namespace pitwall {

struct AnalyzeOptions {
  // Folders with rules, in order; a later rule of the same id replaces an earlier one. Empty: the installed
  // folder, else the copies embedded in the library.
  std::vector<std::string> rule_folders;
  // Thresholds by "rule.threshold" -> value.
  std::vector<std::pair<std::string, double>> thresholds = {};
  // Whether rules are run: a comparison needs the tables alone.
  bool with_rules = true;
  // Ids of rules that are not run.
  std::vector<std::string> disabled = {};
  // A TOML file with thresholds and switches by rule, read before the two above; empty = none:
  //   ["input/bound"]
  //   share = 0.1        # a threshold
  //   enabled = false    # switches the rule off
  std::string config_file = {};
  // Traces of the same program with other numbers of OpenMP threads; they must stay open during the analysis.
  struct Trial {
    std::string name;  // the name in messages
    Trace* trace = nullptr;
  };
  std::vector<Trial> trials = {};
  // Rows of evidence that a finding keeps for display; it is computed from all of them.
  std::size_t evidence_rows = 5;
  // Set by any thread: the analysis ends with the error cancelled, within some thousand events.
  const std::atomic<bool>* cancel = nullptr;
  // Events that are in memory at a time; 0: as many as suit the trace. Results do not depend on it.
  std::size_t events_at_once = 0;
};

// Errors: corruptTrace from reading; invalidInput for a bad rule file, naming file and line; cancelled.
Result<Report> analyzeTrace(Trace& trace, const AnalyzeOptions& options = {});

// The tables that `analyzeTrace` and queries that name them fill, as docs/analysis_tables.md lists them.
std::vector<TableDoc> analysisTableDocs();

// Checks everything in a rule file: TOML, every SQL expression, every template; with an empty trace in a
// temporary file. Errors: io; invalidInput naming file and line.
Status checkRuleFile(const std::string& path);

}  // namespace pitwall
