#include <utility>

#include "analyzer/emit.h"
#include "analyzer/emit/json_emitter.h"
#include "db/findings.h"
#include "db/json_string.h"

namespace pitwall {
namespace {

std::string asJsonObject(const std::vector<std::string>& columns, const std::vector<std::string>& row) {
  std::string object = "{";
  for (std::size_t c = 0; c < row.size(); ++c) {
    object += (c == 0 ? "" : ", ") + jsonString(columns[c]) + ": " + jsonString(row[c]);
  }
  return object + "}";
}

FindingRow rowOf(const Finding& finding) {
  FindingRow row;
  row.id = finding.id;
  row.title = finding.title;
  row.severity = toString(finding.severity);
  row.verdict = finding.verdict;
  row.gain_low = finding.gain_low;
  row.gain_high = finding.gain_high;
  row.gain_method = finding.gain_method;
  row.guard = finding.guard;
  row.status = toString(finding.status);
  for (const auto& proposal : finding.proposals) {
    row.proposals.push_back({proposal.name, proposal.current, proposal.proposed, proposal.reason});
  }
  for (const auto& evidence : finding.evidence.rows) {
    row.evidence.push_back(asJsonObject(finding.evidence.columns, evidence));
  }
  return row;
}

}  // namespace

const char* toString(FindingStatus status) {
  switch (status) {
    case FindingStatus::notTested: return "not tested";
    case FindingStatus::confirmed: return "confirmed";
    case FindingStatus::refuted: return "refuted";
  }
  return "not tested";
}

Status saveReport(const Report& report) {
  std::vector<FindingRow> rows;
  for (const auto& finding : report.findings) rows.push_back(rowOf(finding));
  return saveFindings(report.trace_path, rows);
}

}  // namespace pitwall
