// The facts of a trace that rules read, as one row of named values. Unknown facts are null, so that a rule
// can distinguish "no" from "not recorded".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/analysis/breakdown.h"
#include "analyzer/analysis/coverage.h"
#include "analyzer/analysis/iterations.h"
#include "analyzer/analysis/operators.h"
#include "analyzer/analysis/timeline.h"
#include "db/reader.h"

namespace pitwall::analysis {

struct Fact {
  std::string key;
  SqlValue value;
};

// Keys, units and order: analyzer/analysis/summary_table.cpp.
std::vector<Fact> summarize(const Trace& trace, const Timeline& timeline, const Iterations& iterations,
                            const Breakdown& breakdown, const OperatorTable& operators,
                            const Coverage& coverage);

// Writes analysis_summary and analysis_fact. `facts` are all declared ones, in that order.
Status writeFacts(Trace& trace, std::span<const Fact> facts);

}  // namespace pitwall::analysis
