// Finds rules and applies thresholds given on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/rules/rule.h"
#include "db/result.h"

namespace pitwall::rules {

struct EmbeddedRule {
  std::string_view name;  // "input/bound.toml"
  std::string_view toml;
};

// The copies that the build put into the library; generated from rules/.
std::vector<EmbeddedRule> embeddedRules();

struct RuleSet {
  std::vector<Rule> rules;  // ordered by id, ids unique
  std::string source;       // the folders, or "built in"
};

// From the options' folders; else from share/pitwall/rules next to the executable's bin folder; else the
// embedded copies. Errors: notFound for a folder without rules; invalidInput for a bad file (naming file and
// line), an id given twice in one folder, or an unknown rule or threshold in the options.
Result<RuleSet> loadRules(const AnalyzeOptions& options);

// Reads one file. Errors: io, invalidInput.
Result<Rule> readRuleFile(const std::string& path);

}  // namespace pitwall::rules
