// The dependency graph of operators of Pitwall's engine: each waited for the operators whose results it uses, as
// recorded, and for the operator before it on its worker. An operator on an asynchronous track of a device did not wait
// for the one before it there, but for the worker that started it.
#pragma once

#include <span>
#include <vector>

#include "analyzer/analysis/timeline.h"
#include "analyzer/dependencies/graph.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// Only the engine of Pitwall's runtime records when an operator was pushed.
bool tellsOfAnEngine(std::span<const OperatorInterval> operators);

// `operators` are ordered by start; node i is operator i, so an edge leads to a later node and there is no cycle.
// Of the edges into a node, the one of its worker is the first. Dependencies on operators that are not among
// these are left out. Linear in operators and in the dependencies recorded between them; an asynchronous operator
// also looks at each worker of its device.
// The operators are freed when they have become nodes: the list of dependencies takes as much memory again.
// Errors: corruptTrace from reading dependencies.
Result<Graph> graphOfOperators(Trace& trace, Interval window, std::vector<OperatorInterval> operators);

}  // namespace pitwall::analysis
