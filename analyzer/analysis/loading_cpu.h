// How many CPUs the program uses while its training waits for batches, from samples of its threads.
#pragma once

#include <optional>
#include <span>

#include "analyzer/analysis/intervals.h"
#include "analyzer/analysis/iterations.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// CPUs in use on average within the waits, at most: the upper limit, with 95 % confidence, of what the samples of all threads
// within them allow. nullopt = too few samples.
// Errors: as Trace::counters.
Result<std::optional<double>> cpusWhileWaiting(Trace& trace, std::span<const Iteration> iterations,
                                               const Intervals& waits);

}  // namespace pitwall::analysis
