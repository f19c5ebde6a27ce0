#include "analyzer/rules/run_rule.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "analyzer/rules/needs.h"
#include "analyzer/rules/rule_sql.h"
#include "analyzer/rules/text_template.h"
#include "analyzer/rules/unknown_facts.h"
#include "analyzer/units_text.h"

namespace pitwall::rules {
namespace {

constexpr std::string_view kTunePrefix = "PITWALL_TUNE_";
constexpr char kTooShort[] =
    "the program ended too early to advise on its speed; record a run of several seconds that ends well.";

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
  auto value = sql.overMeasure(rule.confidence);
  if (!value.has_value()) return fail(value.error());
  if (const auto confidence = confidenceNamed(asText(value.value()))) return *confidence;
  if (std::holds_alternative<std::monostate>(value.value())) return Confidence::low;
  return fail(ErrorCode::invalidInput, fmt::format("{}: confidence '{}' is not one of low, medium, high",
                                                   rule.confidence.place, asText(value.value())));
}

Result<Severity> severityOf(const Rule& rule, RuleSql& sql) {
  if (const auto severity = severityNamed(rule.severity.text)) return *severity;
  auto value = sql.overMeasure(rule.severity);
  if (!value.has_value()) return fail(value.error());
  if (const auto severity = severityNamed(asText(value.value()))) return *severity;
  if (std::holds_alternative<std::monostate>(value.value())) return Severity::info;
  return fail(ErrorCode::invalidInput, fmt::format("{}: severity '{}' is not one of info, low, medium, high",
                                                   rule.severity.place, asText(value.value())));
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

struct Row {
  std::vector<std::string> columns;
  std::vector<SqlValue> values;
};

// Nothing when the proposal does not apply: its condition is false, the program does not read it, or the
// value is in effect already.
Result<std::optional<Proposal>> propose(const ProposalTemplate& proposal, RuleSql& sql, const Trace& trace,
                                        std::span<const analysis::SettingState> settings, const Row& row) {
  if (!proposal.when.empty()) {
    auto when = sql.overMeasure(proposal.when);
    if (!when.has_value()) return fail(when.error());
    if (!isTrue(when.value())) return std::optional<Proposal>();
  }
  const auto target = targetOf(proposal.name, trace, settings);
  if (!target) return std::optional<Proposal>();
  auto value = sql.overMeasure(proposal.value);
  if (!value.has_value()) return fail(value.error());
  if (std::holds_alternative<std::monostate>(value.value())) return std::optional<Proposal>();
  auto proposed = value.value();
  if (auto* integer = std::get_if<std::int64_t>(&proposed)) {
    *integer = std::clamp(*integer, target->minimum, target->maximum);
  }
  auto reason = expand(proposal.reason, row.columns, row.values);
  if (!reason.has_value()) return fail(reason.error());
  if (asText(proposed) == target->current) return std::optional<Proposal>();
  return std::optional<Proposal>(
      {proposal.name, target->current, asText(proposed), reason.value(), target->user_set});
}

Status addProposals(const Rule& rule, RuleSql& sql, Trace& trace,
                    std::span<const analysis::SettingState> settings, const Row& row, Finding& finding) {
  for (const auto& proposal : rule.proposals) {
    auto proposed = propose(proposal, sql, trace, settings, row);
    if (!proposed.has_value()) return fail(proposed.error());
    if (proposed.value()) finding.proposals.push_back(*proposed.value());
  }
  return {};
}

Status addEvidence(const Rule& rule, RuleSql& sql, std::size_t shown_rows, Finding& finding) {
  if (rule.evidence.empty()) return {};
  auto evidence = sql.rows(rule.evidence.text, rule.evidence.place);
  if (!evidence.has_value()) return fail(evidence.error());
  const auto& rows = evidence.value();
  finding.evidence.columns = rows.columns;
  finding.evidence.total_rows = static_cast<std::int64_t>(rows.rows.size());
  for (const auto& row : rows.rows) {
    if (finding.evidence.rows.size() == shown_rows) break;
    std::vector<std::string> shown;
    for (std::size_t c = 0; c < row.size(); ++c) shown.push_back(showValue(rows.columns[c], row[c]));
    finding.evidence.rows.push_back(std::move(shown));
  }
  return {};
}

Status addGain(const Rule& rule, RuleSql& sql, const Row& row, Finding& finding) {
  if (rule.gain_high.empty()) return {};
  auto low = sql.overMeasure(rule.gain_low);
  if (!low.has_value()) return fail(low.error());
  auto high = sql.overMeasure(rule.gain_high);
  if (!high.has_value()) return fail(high.error());
  finding.gain_low = asReal(low.value());
  finding.gain_high = asReal(high.value());
  auto method = expand(rule.gain_method, row.columns, row.values);
  if (!method.has_value()) return fail(method.error());
  finding.gain_method = method.value();
  auto confidence = confidenceOf(rule, sql);
  if (!confidence.has_value()) return fail(confidence.error());
  finding.confidence = confidence.value();
  return {};
}

Status addCost(const Rule& rule, RuleSql& sql, const Row& row, Finding& finding) {
  if (!rule.cost_share.empty()) {
    auto share = sql.overMeasure(rule.cost_share);
    if (!share.has_value()) return fail(share.error());
    if (!std::holds_alternative<std::monostate>(share.value()))
      finding.cost_share = std::clamp(asReal(share.value()), 0.0, 1.0);
  }
  if (!rule.cost.empty()) {
    auto cost = expand(rule.cost, row.columns, row.values);
    if (!cost.has_value()) return fail(cost.error());
    finding.cost = cost.value();
  } else if (finding.cost_share) {
    finding.cost = showShare(*finding.cost_share) + " of the time";
  }
  return {};
}

Result<Claim> makeFinding(const Rule& rule, RuleSql& sql, Trace& trace,
                          std::span<const analysis::SettingState> settings, const Row& row,
                          std::size_t evidence_rows) {
  Claim claim{{}, rule.claims, rule.gain_last};
  auto& finding = claim.finding;
  finding.id = rule.id;
  finding.title = rule.title;
  finding.first = rule.first;
  finding.sql = {withThresholds(rule, rule.measure.text), withThresholds(rule, rule.evidence.text)};
  auto severity = severityOf(rule, sql);
  if (!severity.has_value()) return fail(severity.error());
  finding.severity = severity.value();
  auto verdict = expand(rule.verdict, row.columns, row.values);
  if (!verdict.has_value()) return fail(verdict.error());
  finding.verdict = verdict.value();
  auto action = expand(rule.action, row.columns, row.values);
  if (!action.has_value()) return fail(action.error());
  finding.action = action.value();
  auto guard = expand(rule.guard, row.columns, row.values);
  if (!guard.has_value()) return fail(guard.error());
  finding.guard = guard.value();
  if (auto status = addEvidence(rule, sql, evidence_rows, finding); !status.has_value())
    return fail(status.error());
  if (auto status = addGain(rule, sql, row, finding); !status.has_value()) return fail(status.error());
  if (auto status = addCost(rule, sql, row, finding); !status.has_value()) return fail(status.error());
  if (auto status = addProposals(rule, sql, trace, settings, row, finding); !status.has_value()) {
    return fail(status.error());
  }
  return claim;
}

// Silent, unless that is only because of facts that the trace lacks.
Result<Outcome> whySilent(const Rule& rule, RuleSql& sql) {
  auto unknown = sql.unknownFacts();
  if (!unknown.has_value()) return fail(unknown.error());
  if (!unknown.value().could_fire) return Outcome(Silent{});
  std::string facts;
  for (const auto& column : unknown.value().columns)
    facts += (facts.empty() ? "" : ", ") + describeFact(column);
  return Outcome(Abstention{rule.id, rule.title, "the trace lacks " + facts + "."});
}

}  // namespace

Result<Outcome> runRule(const Rule& rule, Trace& trace, std::span<const analysis::SettingState> settings,
                        std::size_t evidence_rows) {
  RuleSql sql(rule, trace);
  if (!rule.proposals.empty() || !rule.gain_high.empty()) {
    auto too_short = sql.overSummary({"too_short", rule.file});
    if (!too_short.has_value()) return fail(too_short.error());
    if (isTrue(too_short.value())) return Outcome(Abstention{rule.id, rule.title, kTooShort});
  }
  for (const auto& name : rule.needs) {
    const Need& need = *findNeed(name);
    auto is_met = sql.overSummary({std::string(need.condition), rule.file});
    if (!is_met.has_value()) return fail(is_met.error());
    if (!isTrue(is_met.value())) return Outcome(Abstention{rule.id, rule.title, std::string(need.reason)});
  }
  for (const auto& abstain : rule.abstains) {
    auto when = sql.overSummary(abstain.when);
    if (!when.has_value()) return fail(when.error());
    if (isTrue(when.value())) return Outcome(Abstention{rule.id, rule.title, abstain.reason});
  }
  auto measured = sql.rows(rule.measure.text, rule.measure.place);
  if (!measured.has_value()) return fail(measured.error());
  if (measured.value().rows.empty()) return whySilent(rule, sql);
  const Row row{measured.value().columns, measured.value().rows.front()};
  sql.useMeasured(row.columns, row.values);
  auto claim = makeFinding(rule, sql, trace, settings, row, evidence_rows);
  if (!claim.has_value()) return fail(claim.error());
  return Outcome(std::move(claim).value());
}

Status checkRule(const Rule& rule, Trace& trace) {
  RuleSql sql(rule, trace);
  for (const auto& abstain : rule.abstains) {
    if (auto when = sql.overSummary(abstain.when); !when.has_value()) return fail(when.error());
  }
  auto measured = sql.rows(rule.measure.text, rule.measure.place);
  if (!measured.has_value()) return fail(measured.error());
  const auto& columns = measured.value().columns;
  if (!rule.evidence.empty()) {
    auto evidence = sql.rows(rule.evidence.text, rule.evidence.place);
    if (!evidence.has_value()) return fail(evidence.error());
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
    if (auto value = sql.overMeasure(expression); !value.has_value()) return fail(value.error());
  }
  for (const auto& text : templates) {
    if (auto status = checkTemplate(text, columns); !status.has_value()) return status;
  }
  return {};
}

}  // namespace pitwall::rules
