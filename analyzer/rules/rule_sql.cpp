#include "analyzer/rules/rule_sql.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "analyzer/rules/sql_text.h"
#include "db/sql_value.h"
#include "db/try.h"

namespace pitwall::rules {
namespace {

constexpr std::string_view kParameter = ":threshold_";

// Thresholds are reals: 2 would make a division of integers of it.
std::string literal(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_not_of("0123456789") == std::string::npos ? text + ".0" : text;
}

bool isNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

bool isTrue(const SqlValue& value) { return realOf(value) != 0; }

std::string asText(const SqlValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{:g}", *real);
  return {};
}

std::vector<SqlParameter> RuleSql::parametersOf(const std::string& sql) const {
  std::vector<SqlParameter> parameters;
  for (const auto& threshold : rule_.thresholds) {
    const std::string name = std::string(kParameter) + threshold.name;
    if (mentions(sql, name)) parameters.push_back({name, threshold.value});
  }
  for (const auto& value : measured_) {
    if (mentions(sql, value.name)) parameters.push_back(value);
  }
  return parameters;
}

Result<SqlRows> RuleSql::rows(const std::string& sql, const std::string& place) {
  auto result = trace_.query(sql, parametersOf(sql));
  if (!result.has_value()) return fail(result.error().code, place + ": " + explained(result.error().message));
  return result;
}

void RuleSql::useMeasured(const std::vector<std::string>& columns, const std::vector<SqlValue>& values) {
  measured_.clear();
  std::string selected;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    measured_.push_back({fmt::format(":measured_{}_", i), values[i]});
    selected += fmt::format("{}{} AS \"{}\"", i == 0 ? "" : ", ", measured_.back().name, columns[i]);
  }
  measure_ = "SELECT " + selected;
}

Result<SqlValue> RuleSql::overMeasure(const Text& expression) {
  return single("WITH measure AS (" + measure_ + ") SELECT (" + expression.text + ") FROM measure LIMIT 1",
                expression.place);
}

Result<SqlValue> RuleSql::overSummary(const Text& expression) {
  return single("SELECT (" + expression.text + ") FROM analysis_summary", expression.place);
}

Result<UnknownFacts> RuleSql::unknownFacts() {
  return unknownFactsOf(rule_.measure.text, parametersOf(rule_.measure.text), trace_);
}

// SQLite's message, with a hint instead of the statement, whose place is known.
std::string RuleSql::explained(const std::string& message) const {
  std::string said = message.substr(0, message.find("; in the statement:"));
  if (said.rfind("no such table", 0) == 0 || said.rfind("no such column", 0) == 0)
    return said + "; 'pitwall query TRACE --schema' lists tables and columns";
  if (said.rfind("no value was given for parameter", 0) == 0) {
    std::string known;
    for (const auto& threshold : rule_.thresholds)
      known += (known.empty() ? "" : ", ") + std::string(kParameter) + threshold.name;
    return fmt::format("{}; the rule's thresholds are: {}", said, known.empty() ? "none" : known);
  }
  return said;
}

Result<SqlValue> RuleSql::single(const std::string& sql, const std::string& place) {
  auto result = PITWALL_TRY(rows(sql, place));
  if (result.rows.empty() || result.rows[0].empty()) return SqlValue();
  return result.rows[0][0];
}

std::string withThresholds(const Rule& rule, const std::string& sql) {
  std::string out;
  for (std::size_t at = 0; at < sql.size();) {
    const auto found = sql.find(kParameter, at);
    out += sql.substr(at, found - at);
    if (found == std::string::npos) break;
    auto end = found + kParameter.size();
    while (end < sql.size() && isNamePart(sql[end])) ++end;
    const auto name = sql.substr(found + kParameter.size(), end - found - kParameter.size());
    const auto threshold = std::find_if(rule.thresholds.begin(), rule.thresholds.end(),
                                        [&](const Threshold& each) { return each.name == name; });
    out += threshold == rule.thresholds.end() ? sql.substr(found, end - found) : literal(threshold->value);
    at = end;
  }
  const auto first = out.find_first_not_of(" \n"), last = out.find_last_not_of(" \n");
  return first == std::string::npos ? std::string() : out.substr(first, last - first + 1);
}

}  // namespace pitwall::rules
