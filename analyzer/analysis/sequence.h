// Finds where a sequence of operators repeats, when a program sets no iteration marks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analyzer/analysis/time_chunks.h"
#include "analyzer/analysis/timeline.h"
#include "db/result.h"

namespace pitwall::analysis {

// Shows all operators in order of time, some at a time, each time with the earliest push of those to come.
using OperatorVisitor = std::function<void(std::span<const OperatorInterval>, TimeNs pending_from_ns)>;
using OperatorSource = std::function<Status(const OperatorVisitor&)>;

OperatorSource operatorsOf(TimeChunkReader& chunks);

struct RepeatingSequence {
  std::vector<TimeNs> starts;    // start_ns of a first operator, ordered; empty: nothing repeats
  std::int64_t period = 0;       // operators that it consists of
  std::int64_t repetitions = 1;  // from one start to the next
};

// More repetitions than this are grouped, a power of two each, so that there are fewer starts than
// twice as many.
inline constexpr std::size_t kMostRepetitions = 1 << 14;

// Empty when there are fewer than three repetitions, or no period of at most a million operators explains at
// least 80 % of the sequence. Operators are compared by their facts, in the order in which the program pushed
// them. Uses the memory of two periods, and of the operators between push and start; reads the source three
// times. Errors: the source's.
Result<RepeatingSequence> findRepetition(const OperatorSource& operators);

}  // namespace pitwall::analysis
