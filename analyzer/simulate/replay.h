// When each task of a program ends, given how long each takes: one pass over the tasks.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/dependencies/graph.h"
#include "analyzer/simulate/tasks.h"

namespace pitwall::simulate {

// What an edit changes: how long tasks take, and after what delay a link is fulfilled. Both in the order of Tasks.
struct Lengths {
  static constexpr TimeNs kRemoved = INT64_MIN / 4;  // delay of a link that holds nothing back
  std::vector<TimeNs> own_ns, delay_ns;
  // So many of the engine's operators run at once, each on the worker that is free first, in the recorded order, beside those
  // that need none; 0: on the workers that they ran on.
  std::size_t workers = 0;
};

// As recorded.
Lengths lengthsOf(const Tasks& tasks);
// The same, but delays of devices and of the engine are those that are usual for the operator, kernel or call, over all
// its executions. `graph` is the one that the tasks are of.
Lengths usualLengthsOf(const analysis::Graph& graph, const Tasks& tasks);

struct Replayed {
  // Of each task, since the window's start: a point's moment, a work's end.
  std::vector<TimeNs> end_ns;
  // Of each mark: when the training thread reached it and all work launched before it had ended.
  std::vector<TimeNs> marks_ns;

  // Durations of the iterations, between the marks.
  std::vector<TimeNs> iterations() const;
};

// Linear in tasks and links. Reuses the memory of `out`.
void replay(const Tasks& tasks, const Lengths& lengths, Replayed& out);

}  // namespace pitwall::simulate
