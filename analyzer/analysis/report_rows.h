// Rows of a report that are read from the tables of the analyses.
#pragma once

#include <vector>

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/operators.h"
#include "analyzer/report.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// analysis_kernel by name, over all devices. Errors: those of Trace::query.
Result<std::vector<KernelRow>> kernelRows(Trace& trace);

// In a trace of sums each event stands for many executions with only a count and a sum: the counts are
// used, quantiles become 0.
void countExecutions(const Trace& trace, const Activity& activity, OperatorTable& table);

}  // namespace pitwall::analysis
