#include "analyzer/rules/budget.h"

#include <algorithm>
#include <map>

namespace pitwall::rules {
namespace {

bool ranksBefore(const Finding& a, const Finding& b) {
  if (a.gain_high != b.gain_high) return a.gain_high > b.gain_high;
  if (a.severity != b.severity) return a.severity > b.severity;
  return a.id < b.id;
}

}  // namespace

std::vector<Finding> shareBudget(std::vector<Claim> claims, const Breakdown& breakdown) {
  std::map<std::string, double> left;
  for (const auto& share : breakdown.shares) left[share.category] = share.share;
  std::sort(claims.begin(), claims.end(),
            [](const Claim& a, const Claim& b) { return ranksBefore(a.finding, b.finding); });

  std::vector<Finding> findings;
  for (auto& claim : claims) {
    double available = 0;
    for (const auto& category : claim.categories) available += left[category];
    auto& finding = claim.finding;
    finding.gain_high = std::clamp(finding.gain_high, 0.0, available);
    finding.gain_low = std::clamp(finding.gain_low, 0.0, finding.gain_high);
    double taken = finding.gain_high;
    for (const auto& category : claim.categories) {
      const double part = std::min(taken, left[category]);
      left[category] -= part;
      taken -= part;
    }
    findings.push_back(std::move(finding));
  }
  std::stable_sort(findings.begin(), findings.end(), ranksBefore);
  return findings;
}

}  // namespace pitwall::rules
