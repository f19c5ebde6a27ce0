// Where the wall time of the steady iterations goes.
//
// At each moment of an iteration exactly one category applies, the first of these whose condition is true:
//   forward, backward, update, other operators   an operator of that phase runs (on any thread or stream)
//   communication    none of those runs, but one that moves data between devices (CopyCPU2GPU, KVStorePush)
//   unattributed     none runs, but events of this moment were lost; or the trace holds no operators at all,
//                    or the calls of one library only, so that nothing else could be seen
//   data wait        none runs but such as prepare data, and the training thread waits for its next batch;
//                    operators that prepare data while it does not wait are other operators
//   engine overhead  none runs, but one is pushed and not started, a bulk segment is between two operators,
//                    or the training thread is blocked in a wait that nothing runs for: dispatch, queues,
//                    wake-ups
//   idle             nothing is queued and no thread waits: the program's own code between its calls
// The categories are disjoint and sum to the wall time exactly. Time is linear in the events, and memory
// holds one time chunk: of the operators of other time chunks only the ends of those that started before are
// needed, and the first push of those that start later.
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

// Sweeps the operators one time chunk after the other.
class CategorySweep {
 public:
  // All must outlive it. `facts` gives the operators' phases.
  CategorySweep(const Timeline& timeline, std::span<const Iteration> iterations,
                std::span<const OperatorFacts> facts);

  // Operators that start in [from, to), in order of time, after those that start before. `pending_from_ns`:
  // the earliest push of those that start later; the greatest time for none.
  void add(std::span<const OperatorInterval> operators, TimeNs from_ns, TimeNs to_ns, TimeNs pending_from_ns);

  // One entry for each iteration, steady or not; after the last time chunk.
  std::vector<CategoryTimes> finish();

 private:
  // One list more than there are categories: operators that prepare data hide no wait for data.
  static constexpr std::size_t kDataOperators = kCategories;
  using Lists = std::array<Intervals, kCategories + 1>;
  std::size_t listOf(OperatorId op) const;
  void addOperators(std::span<const OperatorInterval> operators, Interval chunk, Lists& lists);
  std::span<const Iteration> iterationsIn(Interval chunk);

  const Timeline& timeline_;
  std::span<const Iteration> iterations_;
  std::span<const OperatorFacts> facts_;
  Intervals overhead_, data_waits_, communication_, unattributed_;  // of the whole trace
  std::array<TimeNs, kCategories + 1> running_until_;  // of operators that started in earlier time chunks
  std::size_t first_iteration_ = 0;                    // that is not over
  std::vector<CategoryTimes> times_;
};

// Sums the steady iterations; all of them when none is steady.
Breakdown summarizeBreakdown(const Iterations& iterations, std::span<const CategoryTimes> times);

}  // namespace pitwall::analysis
