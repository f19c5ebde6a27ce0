// Finds where a sequence of operators repeats, when a program sets no iteration marks.
#pragma once

#include <span>
#include <vector>

#include "analyzer/analysis/timeline.h"

namespace pitwall::analysis {

// Start of each repetition (start_ns of its first operator), ordered; empty when fewer than three repetitions
// or no period explains at least 80 % of the sequence. Operators are compared by their facts, in the order in
// which the program handed them over. Cost: O(n log n) for n operators.
std::vector<TimeNs> repeatingStarts(std::span<const OperatorInterval> operators);

}  // namespace pitwall::analysis
