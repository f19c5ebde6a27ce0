// Writes the results of the analyses as temp tables of the trace's connection, so that rules and users ask
// the same tables in SQL. All tables: analyzer/analysis/analysis_tables.h.
#pragma once

#include <span>
#include <vector>

#include "analyzer/analysis/breakdown.h"
#include "analyzer/analysis/operators.h"
#include "analyzer/analysis/summary.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

struct Tables {
  std::span<const Iteration> iterations;
  std::span<const CategoryTimes> times;
  const Breakdown& breakdown;
  const OperatorTable& operators;
  std::span<const Fact> facts;
};

// Writes analysis_iteration, analysis_breakdown, analysis_operator, analysis_setting, analysis_tunable,
// analysis_fact and analysis_summary; replaces those of an earlier call.
Status writeTables(Trace& trace, const Tables& tables);

}  // namespace pitwall::analysis
