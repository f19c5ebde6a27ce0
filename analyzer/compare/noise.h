// How much of a difference between two samples is chance.
#pragma once

#include <span>

namespace pitwall::comparing {

double medianOf(std::span<const double> values);

struct Interval {
  double low = 0, high = 0;
};

// 95 % interval of median(b) / median(a) - 1 by the bootstrap: both samples are drawn anew many times from
// themselves. It asks nothing of how iterations are distributed, which have tails. The same input gives the
// same answer. Neighbouring iterations that resemble each other make the true interval wider: they are drawn
// in blocks of about the cube root of their number.
Interval bootstrapChange(std::span<const double> a, std::span<const double> b);

}  // namespace pitwall::comparing
