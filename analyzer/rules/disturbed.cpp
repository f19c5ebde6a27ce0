#include "analyzer/rules/disturbed.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <variant>

#include "db/sql_value.h"
#include "db/try.h"

namespace pitwall::rules {
namespace {

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
  const bool had_gain = finding.gain_high > 0;
  finding.gain_low = 0;
  if (removed > 0) finding.gain_high = 0;
  if (!had_gain) return;
  if (removed > 0) finding.severity = std::min(finding.severity, Severity::low);
  limit(finding, why + (removed > 0 ? ", so that neither a number of threads nor a gain is proposed"
                                    : ", so that the lower end is unknown"));
}

}  // namespace

Result<std::string> disturbanceOf(Trace& trace) {
  auto rows = PITWALL_TRY(trace.query("SELECT machine_busy, taken_share, steal_share FROM analysis_summary"));
  if (rows.rows.empty() || realOf(rows.rows[0][0]) == 0) return std::string();
  const double taken = realOf(rows.rows[0][1]), steal = realOf(rows.rows[0][2]);
  return fmt::format("measured on a busy machine ({})",
                     taken >= steal ? fmt::format("other programs took {:.0f} % of the CPU time", taken * 100)
                                    : fmt::format("{:.0f} % of the CPUs' time was stolen", steal * 100));
}

void withhold(const std::string& why, std::vector<Claim>& claims) {
  if (why.empty()) return;
  for (Claim& claim : claims) withholdBusy(why, claim.finding);
}

void putFirst(std::vector<Finding>& findings) {
  const auto place = [](const Finding& finding) {
    return finding.first == 0 || finding.severity < Severity::high ? INT32_MAX : finding.first;
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return place(a) < place(b); });
}

}  // namespace pitwall::rules
