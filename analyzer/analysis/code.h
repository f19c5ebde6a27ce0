// Functions on sampled stacks: the program's own code, start-up and waits by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// Writes analysis_code and analysis_startup. Errors: as Trace::counters.
Status writeCode(Trace& trace);

// Rows of the report, from those tables.
Result<CodeReport> codeReport(Trace& trace);

}  // namespace pitwall::analysis
