// Functions on sampled stacks: the program's own code, start-up and waits by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// Writes analysis_code and analysis_startup; returns what the report has of them. Errors: as Trace::counters.
Result<CodeReport> writeCode(Trace& trace);

}  // namespace pitwall::analysis
