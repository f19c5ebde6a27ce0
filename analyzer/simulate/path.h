// The critical path through a replayed program.
#pragma once

#include "analyzer/critical_path/path.h"
#include "analyzer/dependencies/graph.h"
#include "analyzer/simulate/replay.h"
#include "analyzer/simulate/tasks.h"

namespace pitwall::simulate {

// From the last mark back to the first: what each moment waited for last. The sums are in ns over all iterations.
std::map<analysis::PathKey, TimeNs> pathOf(const analysis::Graph& graph, const Tasks& tasks,
                                           const Lengths& lengths, const Replayed& replayed);

}  // namespace pitwall::simulate
