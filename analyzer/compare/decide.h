// Whether two sets of runs differ by more than run-to-run variation. A pure function of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pitwall::comparing {

// The unit of a comparison is the run: iterations of one run share its memory layout, its frequency and other
// programs on the machine, so that their spread says little about the next run.
struct RunTime {
  double ns = 0;      // median of its steady iterations (or of an item, or the whole); above 0
  double spread = 0;  // between parts of the run, see spreadOfParts; 0 = unknown
};

// Standard deviation between runs of one unchanged program, relative to their time, that is assumed where
// fewer than three runs on a side were recorded; it counts as much as four measured differences would.
// docs/analysis.md says why.
inline constexpr double kAssumedSpread = 0.1;
inline constexpr double kAssumedFreedom = 4;
inline constexpr std::size_t kFewestRuns = 3;  // of each side, to go by their own spread alone

// The fastest tenth of a run's iterations is decided apart, with this part of the error; from so many iterations on.
inline constexpr double kFastestQuantile = 0.1;
inline constexpr double kFastestAlpha = 0.01;
inline constexpr std::size_t kFewestForFastest = 20;

enum class Basis : std::uint8_t {
  none,     // undecided
  assumed,  // the assumed spread, widened by the spread within the runs, with what several runs of a side
            // show
  runs,     // the spread between the runs of each side: Welch's t test on the logarithms
};

struct Decision {
  Basis basis = Basis::none;
  double change = 0;         // geometric mean of b over that of a, minus 1
  double low = 0, high = 0;  // interval of the change
  double spread = 0;         // standard deviation between runs that the interval rests on (both sides pooled)
  bool differs() const { return basis != Basis::none && (low > 0 || high < 0); }
};

// `alpha` is the share of comparisons of a program with itself that may be said to differ. No side may be
// empty and no time 0; else the basis is none.
Decision decide(std::span<const RunTime> a, std::span<const RunTime> b, double alpha = 0.03);

double medianOf(std::span<const double> values);  // 0 for none

// Geometric mean of times; 0 when one of them is 0 or there are none.
double geometricMean(std::span<const RunTime> runs);

// Standard deviation of the logarithms of the medians of ten consecutive parts of a run (of the values
// themselves, where they are fewer than ten): how much the machine or the program changed while it ran.
double spreadOfParts(std::span<const double> iterations_ns);

// Standard deviation of the logarithms of the runs' times; 0 for fewer than two.
double spreadBetween(std::span<const RunTime> runs);

}  // namespace pitwall::comparing
