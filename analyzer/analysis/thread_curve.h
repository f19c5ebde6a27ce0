// How the time of an iteration depends on the number of OpenMP threads: a curve through the trials.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

struct ThreadTrial {
  std::int64_t threads = 0;
  double iteration_ns = 0;  // median of steady iterations
};

// t(n) = fixed + divided / n + each x n: work that threads do not share, work that they do, and what each of them
// costs more.
struct ThreadCurve {
  double fixed_ns = 0, divided_ns = 0, each_ns = 0;
  double r_squared = 0;  // 0..1; 1 = the trials are on the curve, 0 = it says no more than their mean

  double at(double threads) const { return fixed_ns + divided_ns / threads + each_ns * threads; }
};

// By least squares; each number of threads occurs once in the trials. None for fewer than four trials, through which
// a curve of three numbers says nothing, and none where more threads share no work (divided_ns is 0 or less).
std::optional<ThreadCurve> threadCurve(std::span<const ThreadTrial> trials);

// Writes analysis_thread_curve, which has no row where there is no curve.
Status writeThreadCurve(Trace& trace, std::span<const ThreadTrial> trials);

}  // namespace pitwall::analysis
