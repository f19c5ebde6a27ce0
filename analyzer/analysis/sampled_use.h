// The CPU use of each process and its threads, for a trace with samples only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/report.h"
#include "db/reader.h"

namespace pitwall::analysis {

struct SampledUses {
  // One for each process that used the CPUs, and one for all helper processes together.
  std::vector<std::string> sentences;
  std::optional<SampledUse> busiest;  // nothing without samples
};

// Errors: as Trace::counters.
Result<SampledUses> sampledUses(Trace& trace);

}  // namespace pitwall::analysis
