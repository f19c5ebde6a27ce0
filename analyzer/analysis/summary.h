// The facts of a trace that rules read, as one row of named values. Unknown facts are null, so that a rule
// can distinguish "no" from "not recorded".
#pragma once

#include <optional>
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

// Keys and units: analyzer/analysis/tables.h.
std::vector<Fact> summarize(const Trace& trace, const Timeline& timeline, const Iterations& iterations,
                            const Breakdown& breakdown, const OperatorTable& operators,
                            const Coverage& coverage);

}  // namespace pitwall::analysis
