// Gains of several findings share one budget of removable time, so that none is promised twice.
//
// The budget of a category is its share of wall time. Findings are served by their predicted gain, highest
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

// Cuts gain_low and gain_high, and orders by the gain that is left, then severity, then id.
std::vector<Finding> shareBudget(std::vector<Claim> claims, const Breakdown& breakdown);

}  // namespace pitwall::rules
