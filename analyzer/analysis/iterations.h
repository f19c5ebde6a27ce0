// Finds the iterations of a training or inference loop, and which of them are steady.
//
// From the program's marks; else from a range that it names once per step (NVTX, the optimizer's step); else
// from the operator sequence that repeats; else the whole trace is one. Marks are set aside when the program
// runs ahead of the engine (most of the work happens after the last mark): they then show when work was
// pushed, not when it was done.
//
// A sequence that repeats tens of thousands of times is reported as iterations of several repetitions each,
// so that neither memory nor tables grow with the trace. One of one or two operators is the log of a repeated
// call rather than a loop: none of its repetitions is an outlier, as the tail of the call's
// own times would be left out of them.
//
// Steady are the iterations left after dropping the first two (warm-up: primitives are created, caches fill),
// the last (its end is the program's end), and outliers (an evaluation between epochs, a stall of the
// machine): longer than 1.5 medians and more than 5 scaled median absolute deviations above the median, or as
// far below. Outliers that come three times and take a tenth of the time, or take half of it, are the
// program's normal work: they stay steady, so that sums describe them too, and are only marked.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/analysis/sequence.h"
#include "analyzer/analysis/timeline.h"
#include "db/event.h"
#include "db/result.h"

namespace pitwall::analysis {

enum class IterationRole : std::uint8_t { steady, warmUp, last, outlier };
const char* toString(IterationRole role);

struct Iteration {
  std::int64_t index = 0;
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  std::int64_t items = 0;  // 0 = unknown
  IterationRole role = IterationRole::steady;
  bool is_outlier = false;  // also of those that stay steady
};

struct Iterations {
  std::vector<Iteration> all;    // ordered, disjoint
  std::string source;            // "marks", "step ranges", "repeating sequence", "whole trace"
  std::string note;              // why marks were not used, or what an iteration is; else empty
  std::int64_t repetitions = 1;  // of the sequence, in each iteration
};

// Finds where the sequence of operators repeats (analyzer/analysis/sequence.h); used only when nothing else
// gives the iterations.
using SequenceFinder = std::function<Result<RepeatingSequence>()>;

// Errors: the finder's.
Result<Iterations> findIterations(const Timeline& timeline, std::span<const IterationMark> marks,
                                  const SequenceFinder& repetition);

// Gives each iteration its role, from the durations alone; without outliers where they are not requested.
enum class Outliers : std::uint8_t { apart, kept };
void assignRoles(std::vector<Iteration>& iterations, Outliers outliers = Outliers::apart);

// Every how many iterations long outliers begin (one alone, or several in a row): 10 for a checkpoint in each
// tenth. 0 = they come fewer than three times, or not regularly.
std::int64_t outlierPeriod(std::span<const Iteration> iterations);

}  // namespace pitwall::analysis
