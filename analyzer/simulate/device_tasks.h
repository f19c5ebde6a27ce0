// Tasks of a program that is recorded through its threads, launches and streams.
#pragma once

#include "analyzer/dependencies/device_graph.h"
#include "analyzer/simulate/tasks.h"

namespace pitwall::simulate {

struct TrainingThread {
  TrackId track;                   // none = unknown: the thread with most events is taken
  analysis::Intervals data_waits;  // its waits for batches; disjoint
};

// `marks_ns`: the beginnings of iterations and the end of the last, ascending and within the graph's window.
Tasks tasksOfDevices(const analysis::DeviceGraph& devices, const TrainingThread& training,
                     std::vector<TimeNs> marks_ns);

}  // namespace pitwall::simulate
