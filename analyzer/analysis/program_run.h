// How long the recorded program ran and how it ended, and whether that is enough to advise on its speed.
#pragma once

#include <vector>

#include "analyzer/analysis/summary.h"
#include "analyzer/report.h"
#include "db/reader.h"

namespace pitwall::analysis {

// Appends run_ns and too_short; after addEndFacts in analyzer/analysis/device_tables.h.
void addRunFacts(const Trace& trace, std::vector<Fact>& facts);

ProgramEnd programEnd(const std::vector<Fact>& facts);

}  // namespace pitwall::analysis
