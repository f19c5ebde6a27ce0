// Small pure functions over samples.
#pragma once

#include <span>
#include <vector>

namespace pitwall::analysis {

// The q-quantile (0..1) with linear interpolation between neighbours; 0 for no samples. Reorders its copy
// only.
double quantile(std::vector<double> samples, double q);

// The same of samples that are in ascending order, without a copy.
double quantileOfSorted(const std::vector<double>& samples, double q);

// The same for several q in ascending order, by reordering the samples as far as that takes, which is much
// less than sorting them.
std::vector<double> quantilesOf(std::vector<double>& samples, std::span<const double> ascending);

double mean(const std::vector<double>& samples);

// Standard deviation of the sample over its mean; 0 for fewer than two.
double coefficientOfVariation(const std::vector<double>& samples);

}  // namespace pitwall::analysis
