// The tables of the critical path, and the section of the report that is made from them.
#pragma once

#include "analyzer/analysis/device_tables.h"
#include "analyzer/report.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// Writes analysis_critical, analysis_critical_step and analysis_critical_path. Errors: corruptTrace from reading
// events or dependencies.
Status writeCriticalPath(Trace& trace, const Context& context);

// Reads these tables.
Result<PathSummary> criticalPathSummary(Trace& trace);

}  // namespace pitwall::analysis
