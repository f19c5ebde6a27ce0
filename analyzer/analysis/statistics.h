// Small pure functions over samples.
#pragma once

#include <vector>

namespace pitwall::analysis {

// The q-quantile (0..1) with linear interpolation between neighbours; 0 for no samples. Reorders its copy
// only.
double quantile(std::vector<double> samples, double q);

// The same of samples that are in ascending order, without a copy.
double quantileOfSorted(const std::vector<double>& samples, double q);

double mean(const std::vector<double>& samples);

// Standard deviation of the sample over its mean; 0 for fewer than two.
double coefficientOfVariation(const std::vector<double>& samples);

}  // namespace pitwall::analysis
