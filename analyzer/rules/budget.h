// Gains of several findings share one budget of removable time, so that none is counted twice.
//
// The budget of a category is its share of wall time. Findings are served by their expected gain, highest
// first, symptoms after causes; each takes what it predicts from the categories it claims, as far as it is
// left there, and its interval is cut to that. So the gains of all findings sum to at most the whole wall
// time, and what two findings both explain is counted for the stronger one. What is counted elsewhere leaves
// the low end too: if the other finding removes it, it cannot be removed again.
#pragma once

#include <string>
#include <vector>

#include "analyzer/report.h"

namespace pitwall::rules {

struct Claim {
  Finding finding;
  std::vector<std::string> categories;
  bool is_symptom = false;  // served when no finding about a cause is left
};

// Least expected gain (or cost, where no gain is predicted) of each severity, as shares of wall time.
inline constexpr double kHighGain = 0.15, kMediumGain = 0.05, kLowGain = 0.02;

// Cuts gain_low and gain_high and sets expected_gain and severity: that of the expected gain, where a gain is
// left; low at most, where findings above count all of it; the rule's own, capped by its cost, where none is
// predicted. Orders by severity, then by expected gain, then by cost, then by id.
std::vector<Finding> shareBudget(std::vector<Claim> claims, const Breakdown& breakdown);

}  // namespace pitwall::rules
