#include "analyzer/rules/disturbed.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <variant>

namespace pitwall::rules {
namespace {

constexpr double kAtOnceNs = 2e9;

double real(const SqlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  const auto* number = std::get_if<double>(&value);
  return number != nullptr ? *number : 0;
}

// "OMP_NUM_THREADS", "MXNET_CPU_WORKER_NTHREADS", "PITWALL_TUNE_loader_workers"
bool countsThreads(const std::string& setting) {
  std::string name = setting;
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name.find("THREADS") != name.npos || name.find("WORKERS") != name.npos;
}

void limit(Finding& finding, const std::string& why) {
  finding.gain_limit += (finding.gain_limit.empty() ? "" : "; ") + why;
}

void withholdBusy(const std::string& why, Finding& finding) {
  const auto removed =
      std::erase_if(finding.proposals, [](const Proposal& proposal) { return countsThreads(proposal.name); });
  const bool promised = finding.gain_high > 0;
  finding.gain_low = 0;
  if (removed > 0) finding.gain_high = 0;
  if (!promised) return;
  if (removed > 0) finding.severity = std::min(finding.severity, Severity::low);
  limit(finding, why + (removed > 0 ? ", so that neither a number of threads nor a gain is proposed"
                                    : ", so that the lower end is unknown"));
}

}  // namespace

Result<Disturbance> disturbanceOf(Trace& trace) {
  auto rows = trace.query(
      "SELECT machine_busy, taken_share, steal_share, exit_code, exit_signal, (SELECT max(to_ns) FROM "
      "analysis_coverage) FROM analysis_summary");
  if (!rows.has_value()) return fail(rows.error());
  Disturbance result;
  if (rows->rows.empty()) return result;
  const auto& row = rows->rows[0];
  if (real(row[0]) != 0) {
    const double taken = real(row[1]), steal = real(row[2]);
    result.busy = taken >= steal ? fmt::format("other programs took {:.0f} % of the CPU time", taken * 100)
                                 : fmt::format("{:.0f} % of the CPUs was stolen", steal * 100);
    result.busy = "measured on a busy machine (" + result.busy + ")";
  }
  const bool failed = real(row[3]) != 0 || real(row[4]) != 0;
  if (failed && real(row[5]) < kAtOnceNs) result.failed = "the program failed at once";
  return result;
}

void withhold(const Disturbance& disturbance, std::vector<Claim>& claims) {
  for (Claim& claim : claims) {
    Finding& finding = claim.finding;
    if (!disturbance.busy.empty()) withholdBusy(disturbance.busy, finding);
    if (disturbance.failed.empty()) continue;
    finding.proposals.clear();
    if (finding.first == 0) finding.severity = std::min(finding.severity, Severity::low);
    if (finding.gain_high > 0) limit(finding, disturbance.failed);
    finding.gain_low = finding.gain_high = 0;
  }
}

void putFirst(std::vector<Finding>& findings) {
  const auto place = [](const Finding& finding) { return finding.first == 0 ? INT32_MAX : finding.first; };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return place(a) < place(b); });
}

}  // namespace pitwall::rules
