// What samples alone say of a trace without operators: how much of the CPUs each process and its threads
// used.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/report.h"
#include "db/reader.h"

namespace pitwall::analysis {

struct SampledUses {
  // One for each process that used the CPUs, and one for all those together that only helped.
  std::vector<std::string> sentences;
  std::optional<SampledUse> busiest;  // nothing without samples
};

// Errors: as Trace::counters.
Result<SampledUses> sampledUses(Trace& trace);

}  // namespace pitwall::analysis
