// Where the wall time of the steady iterations goes.
//
// At each moment of an iteration exactly one category holds, the first that applies:
//   forward, backward, update, other operators   an operator of that phase runs (on any thread or stream)
//   communication    none of those runs, but one that moves data between devices (CopyCPU2GPU, KVStorePush)
//   unattributed     none runs, but events of this moment were lost, or the trace holds no operators at all
//   data wait        none runs, and the training thread waits for its next batch
//   engine overhead  none runs, but one is pushed and not started, a bulk segment is between two operators,
//   or the
//                    training thread is blocked in a wait that nothing runs for: dispatch, queues, wake-ups
//   idle             nothing is queued and nobody waits: the program's own code between its calls
// So the categories are disjoint and sum to the wall time exactly. Linear in the events, when those of
// each kind come ordered by time, else O(n log n).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/analysis/iterations.h"
#include "analyzer/analysis/timeline.h"
#include "analyzer/report.h"
#include "db/event.h"

namespace pitwall::analysis {

enum class Category : std::uint8_t {
  forward,
  backward,
  update,
  otherOperators,
  communication,
  dataWait,
  engineOverhead,
  idle,
  unattributed,
};
inline constexpr std::size_t kCategories = 9;
const char* toString(Category category);

using CategoryTimes = std::array<TimeNs, kCategories>;

// One entry for each iteration of `iterations`, steady or not. `facts` gives the operators' phases.
std::vector<CategoryTimes> sweepCategories(const Timeline& timeline, std::span<const Iteration> iterations,
                                           std::span<const OperatorFacts> facts);

// Sums the steady iterations; all of them when none is steady.
Breakdown summarizeBreakdown(const Iterations& iterations, std::span<const CategoryTimes> times);

}  // namespace pitwall::analysis
