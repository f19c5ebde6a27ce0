// Aligns several inputs on one time axis.
//
// Two clocks that both count from 1970 are compared as they are. Otherwise events that happened in both at
// the same moment give the difference: a collective ends on every rank when its last rank has sent, so that
// the ends of the same collective (the n-th of its kind, counted within an iteration where both have marks)
// give one difference each; else the same iteration marks. The offset is the median of the differences, and
// its uncertainty is the bound that nine of ten of them meet.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/import.h"
#include "db/import/build/joined_processes.h"

namespace pitwall::import {

struct Placement {
  TimeNs begin_ns = 0;      // of the input's time 0 in the merged trace
  std::optional<int> rank;  // where the file does not give it and order or names of the inputs do
  bool shows_rank = false;  // the inputs are of several ranks
  std::string note;         // method and uncertainty; empty for the first
  InputOrigin origin;
};

struct Alignment {
  std::vector<Placement> placements;    // one for each input
  std::optional<std::int64_t> unix_ns;  // of the merged trace's time 0
};

// Reads each input once by itself: `read(i, sink, summary)` imports input i into the sink. Inputs that cannot
// be read are placed at 0; the import itself reports the reason.
Alignment alignInputs(std::span<const std::string> names,
                      const std::function<Status(std::size_t, TraceSink&, ImportSummary&)>& read);

}  // namespace pitwall::import
