// Reads one rule from TOML.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/rules/rule.h"
#include "db/result.h"

namespace pitwall::rules {

// `name` is the file's name for messages. Errors: invalidInput, naming file and line, what is wrong and what
// is expected there.
Result<Rule> parseRule(std::string_view toml, const std::string& name);

struct RuleConfig {
  std::vector<std::pair<std::string, double>> thresholds;  // "rule.threshold"
  std::vector<std::string> disabled;                       // ids
};

// Reads a configuration file (analyzer/analysis.h says what it holds). Errors: io; invalidInput, naming file
// and line.
Result<RuleConfig> readRuleConfig(const std::string& path);

}  // namespace pitwall::rules
