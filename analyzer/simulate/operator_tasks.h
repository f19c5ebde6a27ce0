// Tasks of a program whose operators Pitwall's engine ran: the training thread pushes them, workers run them.
#pragma once

#include "analyzer/dependencies/graph.h"
#include "analyzer/simulate/tasks.h"

namespace pitwall::simulate {

struct EngineThread {
  TrackId track;                     // the training thread; none = unknown
  analysis::Intervals data_waits;    // its waits for batches; disjoint
  analysis::Intervals engine_waits;  // its waits for operators; disjoint
};

// `marks_ns`: the beginnings of iterations and the end of the last, ascending and within the graph's window.
Tasks tasksOfOperators(const analysis::Graph& graph, const EngineThread& training,
                       std::vector<TimeNs> marks_ns);

}  // namespace pitwall::simulate
