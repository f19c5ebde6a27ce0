#include "analyzer/rules/budget.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pitwall::rules {
namespace {

constexpr double kShown = 0.0005;  // a tenth of a percent is shown, less is rounding

// A rule's SQL may divide by nothing; that predicts nothing.
double finite(double gain) { return std::isfinite(gain) ? gain : 0; }

bool ranksBefore(const Finding& a, const Finding& b) {
  const double gain_a = finite(a.gain_high), gain_b = finite(b.gain_high);
  if (gain_a != gain_b) return gain_a > gain_b;
  const double low_a = finite(a.gain_low), low_b = finite(b.gain_low);
  if (low_a != low_b) return low_a > low_b;
  if (a.severity != b.severity) return a.severity > b.severity;
  return a.id < b.id;
}

}  // namespace

std::vector<Finding> shareBudget(std::vector<Claim> claims, const Breakdown& breakdown) {
  std::map<std::string, double> left;
  for (const auto& share : breakdown.shares) left[share.category] = share.share;
  std::sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) {
    if (a.is_symptom != b.is_symptom) return b.is_symptom;
    return ranksBefore(a.finding, b.finding);
  });

  std::vector<Finding> findings;
  for (auto& claim : claims) {
    auto& categories = claim.categories;
    std::sort(categories.begin(), categories.end());
    categories.erase(std::unique(categories.begin(), categories.end()), categories.end());
    double available = 0, whole = 0;
    for (const auto& category : categories) {
      available += left[category];
      whole += breakdown.share(category);
    }
    auto& finding = claim.finding;
    const double predicted = finite(finding.gain_high);
    const double counted_above = std::max(0.0, std::min(predicted, whole) - available);
    finding.gain_high = std::clamp(predicted, 0.0, available);
    if (finding.gain_high < kShown) finding.gain_high = 0;
    finding.gain_low = std::clamp(finite(finding.gain_low) - counted_above, 0.0, finding.gain_high);
    if (predicted > available + kShown) {
      finding.gain_limit = counted_above > kShown ? "the rest is counted in findings above"
                                                  : "this trace has no more such time";
    }
    double taken = finding.gain_high;
    for (const auto& category : categories) {
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
