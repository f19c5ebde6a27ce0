#include "analyzer/rules/rule_file.h"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <sstream>

#include "analyzer/analysis/breakdown.h"
#include "analyzer/analysis/devices.h"
#include "analyzer/rules/needs.h"
#include "analyzer/rules/sql_text.h"
#include "db/try.h"

namespace pitwall::rules {
namespace {

// Reads members of tables and keeps the first error; later ones are ignored.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  const std::optional<std::string>& error() const { return error_; }
  std::string place(const toml::node& node) const {
    return fmt::format("{}:{}", file_, node.source().begin.line);
  }
  void reportError(const toml::node& node, const std::string& what) {
    if (!error_) error_ = place(node) + ": " + what;
  }

  Text text(const toml::table& table, std::string_view key, bool required = true) {
    const toml::node* node = table.get(key);
    if (node == nullptr) {
      if (required) reportError(table, fmt::format("'{}' is missing; expected: {} = \"text\"", key, key));
      return {};
    }
    const auto value = node->value_exact<std::string>();
    if (!value || (required && value->empty())) {
      reportError(*node, fmt::format("'{}' must be a text in quotes, not empty", key));
      return {};
    }
    return {*value, place(*node)};
  }

  double number(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    if (node == nullptr) {
      reportError(table, fmt::format("'{}' is missing; expected: {} = number", key, key));
      return 0;
    }
    if (!node->is_number()) reportError(*node, fmt::format("'{}' must be a number", key));
    return node->value<double>().value_or(0);
  }

  // SQL that is part of a larger statement, or one SELECT.
  Text sql(const toml::table& table, std::string_view key, bool required = true) {
    Text sql = text(table, key, required);
    if (hasSecondStatement(sql.text))
      reportError(*table.get(key), fmt::format("'{}' must be a single SQL statement, without ';'", key));
    return sql;
  }
  Text select(const toml::table& table, std::string_view key, bool required = true) {
    Text select = sql(table, key, required);
    const std::string first = firstWord(select.text);
    if (!select.empty() && first != "SELECT" && first != "WITH")
      reportError(*table.get(key), fmt::format("'{}' must be a SELECT; it begins with '{}'", key, first));
    return select;
  }

  bool flag(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return false;
    const auto value = node->value_exact<bool>();
    if (!value) reportError(*node, fmt::format("'{}' must be true or false", key));
    return value.value_or(false);
  }

  const toml::table* table(const toml::table& parent, std::string_view key, bool required) {
    const toml::node* node = parent.get(key);
    if (node == nullptr) {
      if (required) reportError(parent, fmt::format("[{}] is missing", key));
      return nullptr;
    }
    if (!node->is_table()) reportError(*node, fmt::format("'{}' must be a table: [{}]", key, key));
    return node->as_table();
  }

  std::vector<const toml::table*> tables(const toml::table& parent, std::string_view key) {
    std::vector<const toml::table*> result;
    const toml::node* node = parent.get(key);
    if (node == nullptr) return result;
    const auto* array = node->as_array();
    if (array == nullptr) {
      reportError(*node, fmt::format("'{}' must be a list of tables: [[{}]]", key, key));
      return result;
    }
    for (const auto& element : *array) {
      if (const auto* element_table = element.as_table()) {
        result.push_back(element_table);
      } else {
        reportError(element, fmt::format("each entry of '{}' must be a table", key));
      }
    }
    return result;
  }

  // A misspelt key would silently do nothing.
  void allowOnly(const toml::table& table, std::initializer_list<std::string_view> keys) {
    for (const auto& [key, node] : table) {
      if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
      std::string known;
      for (const auto& name : keys) known += (known.empty() ? "" : ", ") + std::string(name);
      reportError(node, fmt::format("unknown key '{}'; known here: {}", key.str(), known));
    }
  }

 private:
  std::string file_;
  std::optional<std::string> error_;
};

void readThresholds(Reader& reader, const toml::table& root, Rule& rule) {
  const auto* thresholds = reader.table(root, "thresholds", false);
  if (thresholds == nullptr) return;
  for (const auto& [key, node] : *thresholds) {
    const auto* table = node.as_table();
    if (table == nullptr) {
      reader.reportError(
          node, fmt::format("threshold '{}' must be a table with value, unit, source, meaning", key.str()));
      continue;
    }
    reader.allowOnly(*table, {"value", "unit", "source", "meaning"});
    rule.thresholds.push_back({std::string(key.str()), reader.number(*table, "value"),
                               reader.text(*table, "unit").text, reader.text(*table, "source").text,
                               reader.text(*table, "meaning").text});
    const auto& threshold = rule.thresholds.back();
    if (const auto problem = problemWith(threshold.value, threshold.unit))
      reader.reportError(*table, fmt::format("threshold '{}' {}", key.str(), *problem));
  }
}

void readProposals(Reader& reader, const toml::table& root, Rule& rule) {
  for (const auto* table : reader.tables(root, "proposal")) {
    reader.allowOnly(*table, {"name", "value", "when", "reason"});
    rule.proposals.push_back({reader.text(*table, "name").text, reader.sql(*table, "value"),
                              reader.sql(*table, "when", false), reader.text(*table, "reason")});
  }
}

bool isCategory(std::string_view name) {
  for (std::size_t c = 0; c < analysis::kCategories; ++c) {
    if (name == analysis::toString(static_cast<analysis::Category>(c))) return true;
  }
  for (std::size_t p = 0; p < analysis::kDeviceParts; ++p) {
    if (name == analysis::toString(static_cast<analysis::DevicePart>(p))) return true;
  }
  return false;
}

void readGain(Reader& reader, const toml::table& root, Rule& rule) {
  const auto* gain = reader.table(root, "gain", false);
  if (gain == nullptr) return;
  reader.allowOnly(*gain, {"low", "high", "claims", "method", "confidence", "last"});
  rule.gain_low = reader.sql(*gain, "low");
  rule.gain_high = reader.sql(*gain, "high");
  rule.gain_method = reader.text(*gain, "method");
  rule.confidence = reader.sql(*gain, "confidence", false);
  rule.gain_last = reader.flag(*gain, "last");
  const toml::node* claims = gain->get("claims");
  const auto* array = claims == nullptr ? nullptr : claims->as_array();
  if (array == nullptr || array->empty()) {
    reader.reportError(claims == nullptr ? static_cast<const toml::node&>(*gain) : *claims,
                       "'claims' must list the breakdown categories that the gain comes from");
    return;
  }
  for (const auto& element : *array) {
    const auto name = element.value_exact<std::string>().value_or("");
    if (!isCategory(name))
      reader.reportError(element, fmt::format("'{}' is not a category of the breakdown", name));
    rule.claims.push_back(name);
  }
}

void readCost(Reader& reader, const toml::table& root, Rule& rule) {
  const auto* cost = reader.table(root, "cost", false);
  if (cost == nullptr) return;
  reader.allowOnly(*cost, {"share", "text"});
  rule.cost_share = reader.sql(*cost, "share", false);
  rule.cost = reader.text(*cost, "text", false);
  if (rule.cost_share.empty() && rule.cost.empty())
    reader.reportError(*cost, "[cost] needs a share of wall time, a text, or both");
}

// "input/bound": --set takes what follows a '.' as the threshold.
bool isId(std::string_view id) {
  const auto slash = id.find('/');
  return slash != 0 && slash != std::string_view::npos && slash + 1 < id.size() &&
         id.find('/', slash + 1) == std::string_view::npos &&
         std::all_of(id.begin(), id.end(), [](unsigned char c) {
           return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-' || c == '/';
         });
}

void readNeeds(Reader& reader, const toml::table& root, Rule& rule) {
  const toml::node* node = root.get("needs");
  if (node == nullptr) return;
  const auto* array = node->as_array();
  if (array == nullptr || array->empty())
    return reader.reportError(*node, fmt::format("'needs' must be a list of: {}", namesOfNeeds()));
  for (const auto& element : *array) {
    const auto name = element.value_exact<std::string>().value_or("");
    if (findNeed(name) == nullptr)
      reader.reportError(element,
                         fmt::format("'{}' cannot be needed by a rule; known: {}", name, namesOfNeeds()));
    rule.needs.push_back(name);
  }
}

Rule readRule(Reader& reader, const toml::table& root) {
  Rule rule;
  reader.allowOnly(root, {"id", "title", "severity", "first", "needs", "thresholds", "abstain", "measure",
                          "verdict", "action", "evidence", "proposal", "gain", "cost", "guard"});
  rule.id = reader.text(root, "id").text;
  if (!rule.id.empty() && !isId(rule.id)) {
    reader.reportError(
        *root.get("id"),
        fmt::format("id '{}' must be folder/name in lower-case letters, digits and '-'", rule.id));
  }
  rule.title = reader.text(root, "title").text;
  rule.severity = reader.sql(root, "severity");
  if (root.contains("first")) {
    const double place = reader.number(root, "first");
    if (place != 1 && place != 2) reader.reportError(*root.get("first"), "'first' must be 1 or 2");
    rule.first = static_cast<int>(place);
  }
  readThresholds(reader, root, rule);
  readNeeds(reader, root, rule);
  for (const auto* table : reader.tables(root, "abstain")) {
    reader.allowOnly(*table, {"when", "reason"});
    rule.abstains.push_back({reader.sql(*table, "when"), reader.text(*table, "reason").text});
  }
  rule.measure = reader.select(root, "measure");
  rule.verdict = reader.text(root, "verdict");
  rule.action = reader.text(root, "action", false);
  rule.evidence = reader.select(root, "evidence", false);
  readProposals(reader, root, rule);
  readGain(reader, root, rule);
  readCost(reader, root, rule);
  rule.guard = reader.text(root, "guard");
  return rule;
}

void readRuleSwitches(Reader& reader, std::string_view id, const toml::table& table, RuleConfig& config) {
  for (const auto& [key, node] : table) {
    if (key.str() == "enabled") {
      const auto enabled = node.value_exact<bool>();
      if (!enabled) reader.reportError(node, "'enabled' must be true or false");
      if (enabled && !*enabled) config.disabled.push_back({std::string(id), reader.place(node)});
    } else if (node.is_number()) {
      config.thresholds.push_back(
          {fmt::format("{}.{}", id, key.str()), node.value<double>().value_or(0), reader.place(node)});
    } else {
      reader.reportError(node,
                         fmt::format("'{}' must be a number: the value of a threshold, in the unit that "
                                     "'pitwall rules show {}' names",
                                     key.str(), id));
    }
  }
}

}  // namespace

std::optional<std::string> problemWith(double value, const std::string& unit) {
  if (!std::isfinite(value) || value < 0)
    return fmt::format("is {:g}; it must be a number of 0 or more ({})", value, unit);
  if (unit.rfind("share", 0) == 0 && value > 1)
    return fmt::format("is {:g}; a {} is between 0 and 1: 15 % is 0.15", value, unit);
  return std::nullopt;
}

Result<std::string> readTextFile(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return fail(ErrorCode::io, path + ": is a folder; name a file in it");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(ErrorCode::io, path + ": cannot be read");
  return text.str();
}

Result<RuleConfig> readRuleConfig(const std::string& path) {
  auto text = PITWALL_TRY(readTextFile(path));
  toml::table root;
  try {
    root = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::invalidInput, fmt::format("{}:{}: not valid TOML: {}", path,
                                                     error.source().begin.line, error.description()));
  }
  Reader reader(path);
  RuleConfig config;
  for (const auto& [id, node] : root) {
    if (const auto* table = node.as_table()) {
      readRuleSwitches(reader, id.str(), *table, config);
    } else {
      reader.reportError(node, "expected a table for each rule: [\"input/bound\"]");
    }
  }
  if (reader.error()) return fail(ErrorCode::invalidInput, *reader.error());
  return config;
}

Result<Rule> parseRule(std::string_view toml_text, const std::string& name) {
  toml::table root;
  try {
    root = toml::parse(toml_text, name);
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::invalidInput, fmt::format("{}:{}: not valid TOML: {}", name,
                                                     error.source().begin.line, error.description()));
  }
  Reader reader(name);
  Rule rule = readRule(reader, root);
  rule.file = name;
  if (reader.error()) return fail(ErrorCode::invalidInput, *reader.error());
  return rule;
}

}  // namespace pitwall::rules
