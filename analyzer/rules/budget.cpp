#include "analyzer/rules/budget.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace pitwall::rules {
namespace {

constexpr double kShown = 0.0005;  // values from a tenth of a percent are shown, less is rounding

// A rule's SQL may divide by 0; then nothing is predicted.
double finite(double gain) { return std::isfinite(gain) ? gain : 0; }

double expectedGain(const Finding& finding) {
  const double high = std::max(0.0, finite(finding.gain_high));
  const double low = std::clamp(finite(finding.gain_low), 0.0, high);
  return (low + high) / 2 * factorOf(finding.confidence);
}

Severity severityOf(double share) {
  if (share >= kHighGain) return Severity::high;
  if (share >= kMediumGain) return Severity::medium;
  return share >= kLowGain ? Severity::low : Severity::info;
}

// Before anything is cut.
bool isServedBefore(const Claim& a, const Claim& b) {
  if (a.is_symptom != b.is_symptom) return b.is_symptom;
  const auto key = [](const Finding& finding) {
    return std::tuple(expectedGain(finding), finite(finding.gain_high), finding.severity);
  };
  const auto key_a = key(a.finding), key_b = key(b.finding);
  return key_a != key_b ? key_a > key_b : a.finding.id < b.finding.id;
}

bool ranksBefore(const Finding& a, const Finding& b) {
  const auto key = [](const Finding& finding) {
    return std::tuple(finding.severity, finding.expected_gain, finding.gain_high,
                      finding.cost_share.value_or(0));
  };
  const auto key_a = key(a), key_b = key(b);
  return key_a != key_b ? key_a > key_b : a.id < b.id;
}

// `predicted` is the high end before the budget cut it.
void setSeverity(Finding& finding, double predicted) {
  const double alone = expectedGain(finding);
  finding.expected_gain = alone;
  if (finding.gain_high > 0) {
    finding.severity = severityOf(alone);
  } else if (predicted >= kShown) {
    finding.severity = std::min(finding.severity, Severity::low);
  } else if (finding.cost_share) {
    finding.severity = std::min(finding.severity, severityOf(*finding.cost_share));
  }
}

}  // namespace

std::vector<Finding> shareBudget(std::vector<Claim> claims, const Breakdown& breakdown) {
  std::map<std::string, double> left;
  for (const auto& share : breakdown.shares) left[share.category] = share.share;
  std::sort(claims.begin(), claims.end(), isServedBefore);

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
      finding.gain_limit += finding.gain_limit.empty() ? "" : "; ";
      finding.gain_limit += counted_above > kShown ? "the rest is counted in findings above"
                                                   : "this trace has no more such time";
    }
    double taken = finding.gain_high;
    for (const auto& category : categories) {
      const double part = std::min(taken, left[category]);
      left[category] -= part;
      taken -= part;
    }
    setSeverity(finding, predicted);
    findings.push_back(std::move(finding));
  }
  std::stable_sort(findings.begin(), findings.end(), ranksBefore);
  return findings;
}

}  // namespace pitwall::rules
