// What samples alone tell of a trace without operators: how much of the CPUs each process and its threads
// used.
#pragma once

#include <string>
#include <vector>

#include "db/reader.h"

namespace pitwall::analysis {

// A sentence for each of the busiest processes; none without samples. Errors: as Trace::counters.
Result<std::vector<std::string>> describeSampledUse(Trace& trace);

}  // namespace pitwall::analysis
