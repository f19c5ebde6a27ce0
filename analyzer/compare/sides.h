// One side of a comparison: one run of a program, or several.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/compare.h"
#include "analyzer/compare/decide.h"

namespace pitwall::comparing {

struct Side {
  std::vector<const Measured*> runs;  // not empty; whoever gave them keeps them
  Measured combined;  // the first run with the operators and kernels of all, and sums of their outliers
};

Side sideOf(std::span<const Measured> runs);

// What the times of a run are divided by to be of one item, or 1.
double itemsOf(const Measured& run, bool by_item);

// Medians of the steady iterations (or items) of each run, or the wholes.
std::vector<RunTime> timesOf(const Side& side, bool by_item, bool by_recording);

// The 10th percentile of the steady iterations (or items) of each run: other programs disturb it least. Empty when a
// run has too few.
std::vector<RunTime> fastestOf(const Side& side, bool by_item);

// Time of an iteration (or item) of each run in a category; in an operator or kernel. 0 = has none.
std::vector<RunTime> shareOf(const Side& side, const std::string& category, bool by_item);
std::vector<RunTime> workOf(const Side& side, const std::string& name, bool by_item);

// Two runs never take the same times to the nanosecond.
bool isSameRecording(const Measured& a, const Measured& b);

}  // namespace pitwall::comparing
