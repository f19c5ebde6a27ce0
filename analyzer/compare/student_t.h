// Student's t distribution.
#pragma once

namespace pitwall::comparing {

// The value that a t variable with `freedom` degrees of freedom (above 0, any real number) stays below with
// this probability (between 0 and 1).
double studentQuantile(double probability, double freedom);

}  // namespace pitwall::comparing
