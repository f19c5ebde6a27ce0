#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "analyzer/analysis.h"
#include "analyzer/rules/rule_set.h"
#include "analyzer/rules/run_rule.h"
#include "analyzer/rules/sql_text.h"
#include "db/settings.h"
#include "db/store.h"
#include "db/temporary.h"
#include "db/try.h"

namespace pitwall {
namespace {

using rules::mentions;
using rules::Rule;

bool isWord(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
}

// Errors of a rule file that no SQL statement reports: the rule would silently do nothing.
Status checkNames(const Rule& rule) {
  const auto& severity = rule.severity.text;
  if (isWord(severity) && severity != "info" && severity != "low" && severity != "medium" &&
      severity != "high") {
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: severity '{}' is not one of info, low, medium, high, nor an SQL expression",
                            rule.severity.place, rule.severity.text));
  }
  const auto& confidence = rule.confidence.text;
  if (isWord(confidence) && confidence != "low" && confidence != "medium" && confidence != "high") {
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: confidence '{}' is not one of low, medium, high, nor an SQL expression",
                            rule.confidence.place, confidence));
  }
  for (const auto& proposal : rule.proposals) {
    if (findSetting(proposal.name) != nullptr) continue;
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: '{}' is not a known setting; 'pitwall env' lists all", proposal.value.place,
                            proposal.name));
  }
  return {};
}

// After the SQL, which names a misspelt threshold itself.
Status checkThresholdsAreUsed(const Rule& rule) {
  std::string sql;
  for (const auto* text : {&rule.measure, &rule.evidence, &rule.severity, &rule.gain_low, &rule.gain_high,
                           &rule.confidence, &rule.cost_share})
    sql += text->text + ' ';
  for (const auto& abstain : rule.abstains) sql += abstain.when.text + ' ';
  for (const auto& proposal : rule.proposals) sql += proposal.value.text + ' ' + proposal.when.text + ' ';
  for (const auto& threshold : rule.thresholds) {
    if (mentions(sql, ":threshold_" + threshold.name)) continue;
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: no SQL of the rule uses :threshold_{}", rule.file, threshold.name));
  }
  return {};
}

// An empty trace with the analysis tables, in the folder.
Result<std::unique_ptr<Trace>> emptyTrace(const TemporaryFolder& folder) {
  const std::string path = folder.file("empty.pitwall");
  auto sink = PITWALL_TRY(createTrace(path));
  PITWALL_TRY(sink->finish());
  auto trace = PITWALL_TRY(Trace::open(path));
  // Writes the analysis tables; any set of rules is sufficient.
  PITWALL_TRY(analyzeTrace(*trace));
  return trace;
}

}  // namespace

Status checkRuleFile(const std::string& path) {
  auto rule = PITWALL_TRY(rules::readRuleFile(path));
  PITWALL_TRY(checkNames(rule));
  const TemporaryFolder folder = PITWALL_TRY(TemporaryFolder::create("an empty trace"));
  auto trace = PITWALL_TRY(emptyTrace(folder));
  PITWALL_TRY(rules::checkRule(rule, *trace));
  return checkThresholdsAreUsed(rule);
}

}  // namespace pitwall
