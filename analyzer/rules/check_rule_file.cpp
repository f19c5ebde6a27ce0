#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "analyzer/analysis.h"
#include "analyzer/rules/rule_set.h"
#include "analyzer/rules/run_rule.h"
#include "analyzer/rules/sql_text.h"
#include "db/settings.h"
#include "db/store.h"

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

// An empty trace with the analysis tables; removed by the destructor.
class EmptyTrace {
 public:
  EmptyTrace()
      : path_((std::filesystem::temp_directory_path() / fmt::format("pitwall-check-{}.pitwall", getpid()))
                  .string()) {}
  ~EmptyTrace() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  EmptyTrace(const EmptyTrace&) = delete;
  EmptyTrace& operator=(const EmptyTrace&) = delete;

  Result<std::unique_ptr<Trace>> open() {
    auto sink = createTrace(path_);
    if (!sink.has_value()) return fail(sink.error());
    if (auto status = sink.value()->finish(); !status.has_value()) return fail(status.error());
    auto trace = Trace::open(path_);
    if (!trace.has_value()) return trace;
    // Writes the analysis tables; any set of rules is sufficient.
    if (auto report = analyzeTrace(*trace.value()); !report.has_value()) return fail(report.error());
    return trace;
  }

 private:
  std::string path_;
};

}  // namespace

Status checkRuleFile(const std::string& path) {
  auto rule = rules::readRuleFile(path);
  if (!rule.has_value()) return fail(rule.error());
  if (auto status = checkNames(rule.value()); !status.has_value()) return status;
  EmptyTrace empty;
  auto trace = empty.open();
  if (!trace.has_value()) return fail(trace.error());
  if (auto status = rules::checkRule(rule.value(), *trace.value()); !status.has_value()) return status;
  return checkThresholdsAreUsed(rule.value());
}

}  // namespace pitwall
