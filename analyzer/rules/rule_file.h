// Reads one rule from TOML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/rules/rule.h"
#include "db/result.h"

namespace pitwall::rules {

// `name` is the file's name for messages. Errors: invalidInput, naming file and line, what is wrong and what
// is expected there.
Result<Rule> parseRule(std::string_view toml, const std::string& name);

// Errors: io, naming the file.
Result<std::string> readTextFile(const std::string& path);

struct RuleConfig {
  struct Value {
    std::string name;  // "rule.threshold"
    double value = 0;
    std::string place;  // file and line
  };
  std::vector<Value> thresholds;
  std::vector<Text> disabled;  // ids
};

// Reads a configuration file (analyzer/analysis.h says what it holds). Errors: io; invalidInput, naming file
// and line.
Result<RuleConfig> readRuleConfig(const std::string& path);

}  // namespace pitwall::rules
