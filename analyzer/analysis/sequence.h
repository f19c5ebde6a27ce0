// Finds where a sequence of operators repeats, when a program sets no iteration marks.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analyzer/analysis/slices.h"
#include "analyzer/analysis/timeline.h"
#include "db/result.h"

namespace pitwall::analysis {

// Shows all operators in order of time, some at a time, each time with the earliest push of those to come.
using OperatorVisitor = std::function<void(std::span<const OperatorInterval>, TimeNs pending_from_ns)>;
using OperatorSource = std::function<Status(const OperatorVisitor&)>;

OperatorSource operatorsOf(SliceReader& slices);

// Start of each repetition (start_ns of its first operator), ordered; empty when fewer than three repetitions
// or no period explains at least 80 % of the sequence. Operators are compared by their facts, in the order in
// which the program handed them over. Takes four bytes an operator, and what lies between the push and the
// start of those that wait; asks the source twice. Errors: the source's.
Result<std::vector<TimeNs>> repeatingStarts(const OperatorSource& operators);

}  // namespace pitwall::analysis
