#include "analyzer/rules/run_rule.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "analyzer/rules/evidence_place.h"
#include "analyzer/rules/needs.h"
#include "analyzer/rules/rule_sql.h"
#include "analyzer/rules/text_template.h"
#include "analyzer/rules/unknown_facts.h"
#include "analyzer/units_text.h"
#include "db/sql_value.h"
#include "db/try.h"

namespace pitwall::rules {
namespace {

constexpr std::string_view kTunePrefix = "PITWALL_TUNE_";
constexpr char kTooShort[] =
    "the program ended too early to advise on its speed; record a run of several seconds that ends well.";

constexpr char kSerialised[] =
    "kernels were made to run one after the other, to be counted in hardware; record without "
    "PITWALL_RECORD_GPU=counters.";

std::optional<Severity> severityNamed(std::string_view name) {
  for (const auto severity : {Severity::info, Severity::low, Severity::medium, Severity::high}) {
    if (name == toString(severity)) return severity;
  }
  return std::nullopt;
}

std::optional<Confidence> confidenceNamed(std::string_view name) {
  for (const auto confidence : {Confidence::low, Confidence::medium, Confidence::high}) {
    if (name == toString(confidence)) return confidence;
  }
  return std::nullopt;
}

Result<Confidence> confidenceOf(const Rule& rule, RuleSql& sql) {
  if (rule.confidence.empty()) return Confidence::medium;
  if (const auto confidence = confidenceNamed(rule.confidence.text)) return *confidence;
  auto value = PITWALL_TRY(sql.overMeasure(rule.confidence));
  if (const auto confidence = confidenceNamed(asText(value))) return *confidence;
  if (std::holds_alternative<std::monostate>(value)) return Confidence::low;
  return fail(ErrorCode::invalidInput, fmt::format("{}: confidence '{}' is not one of low, medium, high",
                                                   rule.confidence.place, asText(value)));
}

Result<Severity> severityOf(const Rule& rule, RuleSql& sql) {
  if (const auto severity = severityNamed(rule.severity.text)) return *severity;
  auto value = PITWALL_TRY(sql.overMeasure(rule.severity));
  if (const auto severity = severityNamed(asText(value))) return *severity;
  if (std::holds_alternative<std::monostate>(value)) return Severity::info;
  return fail(ErrorCode::invalidInput, fmt::format("{}: severity '{}' is not one of info, low, medium, high",
                                                   rule.severity.place, asText(value)));
}

// The value that the program reads under that name, if any.
struct Target {
  std::string current;
  bool user_set = false;
  std::int64_t minimum = INT64_MIN, maximum = INT64_MAX;
};

std::optional<Target> targetOf(const std::string& name, const Trace& trace,
                               std::span<const analysis::SettingState> settings) {
  if (name.rfind(kTunePrefix, 0) == 0) {
    for (const auto& tunable : trace.tunables()) {
      if (tunable.name != name.substr(kTunePrefix.size())) continue;
      return Target{std::to_string(tunable.value), tunable.source == SettingSource::environment,
                    tunable.minimum, tunable.maximum};
    }
    return std::nullopt;
  }
  for (const auto& setting : settings) {
    if (setting.name != name || !setting.readable) continue;
    return Target{setting.value.empty() ? "unset" : setting.value, setting.source == "environment"};
  }
  return std::nullopt;
}

struct RuleRow {
  std::vector<std::string> columns;
  std::vector<SqlValue> values;
};

// Nothing when the proposal does not apply: its condition is false, the program does not read it, or the
// value is in effect already.
Result<std::optional<Proposal>> propose(const ProposalTemplate& proposal, RuleSql& sql, const Trace& trace,
                                        std::span<const analysis::SettingState> settings,
                                        const RuleRow& row) {
  if (!proposal.when.empty()) {
    auto when = PITWALL_TRY(sql.overMeasure(proposal.when));
    if (!isTrue(when)) return std::optional<Proposal>();
  }
  const auto target = targetOf(proposal.name, trace, settings);
  if (!target) return std::optional<Proposal>();
  auto proposed = PITWALL_TRY(sql.overMeasure(proposal.value));
  if (std::holds_alternative<std::monostate>(proposed)) return std::optional<Proposal>();
  if (auto* integer = std::get_if<std::int64_t>(&proposed)) {
    *integer = std::clamp(*integer, target->minimum, target->maximum);
  }
  auto reason = PITWALL_TRY(expand(proposal.reason, row.columns, row.values));
  if (asText(proposed) == target->current) return std::optional<Proposal>();
  return std::optional<Proposal>(
      {proposal.name, target->current, asText(proposed), reason, target->user_set});
}

Status addProposals(const Rule& rule, RuleSql& sql, Trace& trace,
                    std::span<const analysis::SettingState> settings, const RuleRow& row, Finding& finding) {
  for (const auto& proposal : rule.proposals) {
    auto proposed = PITWALL_TRY(propose(proposal, sql, trace, settings, row));
    if (proposed) finding.proposals.push_back(*proposed);
  }
  return {};
}

Status addEvidence(const Rule& rule, RuleSql& sql, std::size_t shown_rows, Finding& finding) {
  if (rule.evidence.empty()) return {};
  const auto rows = PITWALL_TRY(sql.rows(rule.evidence.text, rule.evidence.place));
  for (const auto& column : rows.columns) {
    if (!isPlaceColumn(column)) finding.evidence.columns.push_back(column);
  }
  finding.evidence.total_rows = static_cast<std::int64_t>(rows.rows.size());
  for (const auto& row : rows.rows) {
    if (finding.evidence.rows.size() == shown_rows) break;
    std::vector<std::string> shown;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (!isPlaceColumn(rows.columns[c])) shown.push_back(showValue(rows.columns[c], row[c]));
    }
    finding.evidence.rows.push_back(std::move(shown));
    finding.evidence.places.push_back(placeOf(rows.columns, row));
  }
  return {};
}

Status addGain(const Rule& rule, RuleSql& sql, const RuleRow& row, Finding& finding) {
  if (rule.gain_high.empty()) return {};
  auto low = PITWALL_TRY(sql.overMeasure(rule.gain_low));
  auto high = PITWALL_TRY(sql.overMeasure(rule.gain_high));
  finding.gain_low = realOf(low);
  finding.gain_high = realOf(high);
  finding.gain_method = PITWALL_TRY(expand(rule.gain_method, row.columns, row.values));
  finding.confidence = PITWALL_TRY(confidenceOf(rule, sql));
  return {};
}

Status addCost(const Rule& rule, RuleSql& sql, const RuleRow& row, Finding& finding) {
  if (!rule.cost_share.empty()) {
    auto share = PITWALL_TRY(sql.overMeasure(rule.cost_share));
    if (!std::holds_alternative<std::monostate>(share))
      finding.cost_share = std::clamp(realOf(share), 0.0, 1.0);
  }
  if (!rule.cost.empty()) {
    finding.cost = PITWALL_TRY(expand(rule.cost, row.columns, row.values));
  } else if (finding.cost_share) {
    finding.cost = showShare(*finding.cost_share) + " of the time";
  }
  return {};
}

Result<Claim> makeFinding(const Rule& rule, RuleSql& sql, Trace& trace,
                          std::span<const analysis::SettingState> settings, const RuleRow& row,
                          std::size_t evidence_rows) {
  Claim claim{{}, rule.claims, rule.gain_last};
  auto& finding = claim.finding;
  finding.id = rule.id;
  finding.title = rule.title;
  finding.first = rule.first;
  finding.sql = {withThresholds(rule, rule.measure.text), withThresholds(rule, rule.evidence.text)};
  finding.severity = PITWALL_TRY(severityOf(rule, sql));
  finding.verdict = PITWALL_TRY(expand(rule.verdict, row.columns, row.values));
  finding.action = PITWALL_TRY(expand(rule.action, row.columns, row.values));
  finding.guard = PITWALL_TRY(expand(rule.guard, row.columns, row.values));
  PITWALL_TRY(addEvidence(rule, sql, evidence_rows, finding));
  PITWALL_TRY(addGain(rule, sql, row, finding));
  PITWALL_TRY(addCost(rule, sql, row, finding));
  PITWALL_TRY(addProposals(rule, sql, trace, settings, row, finding));
  return claim;
}

// Silent, unless that is only because of facts that the trace lacks.
Result<Outcome> whySilent(const Rule& rule, RuleSql& sql) {
  auto unknown = PITWALL_TRY(sql.unknownFacts());
  if (!unknown.could_fire) return Outcome(Silent{});
  std::string facts;
  for (const auto& column : unknown.columns) facts += (facts.empty() ? "" : ", ") + describeFact(column);
  return Outcome(Abstention{rule.id, rule.title, "the trace lacks " + facts + "."});
}

}  // namespace

Result<Outcome> runRule(const Rule& rule, Trace& trace, std::span<const analysis::SettingState> settings,
                        std::size_t evidence_rows) {
  RuleSql sql(rule, trace);
  if (!rule.id.starts_with("quality/")) {
    auto serialised = PITWALL_TRY(sql.overSummary({"timeline_kind = 'serialised kernels'", rule.file}));
    if (isTrue(serialised)) return Outcome(Abstention{rule.id, rule.title, kSerialised});
  }
  if (!rule.proposals.empty() || !rule.gain_high.empty()) {
    auto too_short = PITWALL_TRY(sql.overSummary({"too_short", rule.file}));
    if (isTrue(too_short)) return Outcome(Abstention{rule.id, rule.title, kTooShort});
  }
  for (const auto& name : rule.needs) {
    const Need& need = *findNeed(name);
    auto is_met = PITWALL_TRY(sql.overSummary({std::string(need.condition), rule.file}));
    if (!isTrue(is_met)) return Outcome(Abstention{rule.id, rule.title, std::string(need.reason)});
  }
  for (const auto& abstain : rule.abstains) {
    auto when = PITWALL_TRY(sql.overSummary(abstain.when));
    if (isTrue(when)) return Outcome(Abstention{rule.id, rule.title, abstain.reason});
  }
  auto measured = PITWALL_TRY(sql.rows(rule.measure.text, rule.measure.place));
  if (measured.rows.empty()) return whySilent(rule, sql);
  const RuleRow row{measured.columns, measured.rows.front()};
  sql.useMeasured(row.columns, row.values);
  auto claim = PITWALL_TRY(makeFinding(rule, sql, trace, settings, row, evidence_rows));
  return Outcome(std::move(claim));
}

Status checkRule(const Rule& rule, Trace& trace) {
  RuleSql sql(rule, trace);
  for (const auto& abstain : rule.abstains) {
    PITWALL_TRY(sql.overSummary(abstain.when));
  }
  auto measured = PITWALL_TRY(sql.rows(rule.measure.text, rule.measure.place));
  const auto& columns = measured.columns;
  if (!rule.evidence.empty()) {
    const auto evidence = PITWALL_TRY(sql.rows(rule.evidence.text, rule.evidence.place));
    PITWALL_TRY(checkPlaceColumns(evidence.columns, rule.evidence.place));
  }
  std::vector<Text> expressions{rule.gain_low, rule.gain_high, rule.cost_share};
  std::vector<Text> templates{rule.verdict, rule.action, rule.gain_method, rule.cost, rule.guard};
  for (const auto& proposal : rule.proposals) {
    expressions.push_back(proposal.value);
    expressions.push_back(proposal.when);
    templates.push_back(proposal.reason);
  }
  if (!confidenceNamed(rule.confidence.text)) expressions.push_back(rule.confidence);
  if (!severityNamed(rule.severity.text)) expressions.push_back(rule.severity);
  for (const auto& expression : expressions) {
    if (expression.empty()) continue;
    PITWALL_TRY(sql.overMeasure(expression));
  }
  for (const auto& text : templates) {
    PITWALL_TRY(checkTemplate(text, columns));
  }
  return {};
}

}  // namespace pitwall::rules
