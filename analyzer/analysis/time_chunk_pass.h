// The pass over a trace's time chunks that feeds every analysis.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/analysis/breakdown.h"
#include "analyzer/analysis/devices.h"
#include "analyzer/analysis/iterations.h"
#include "analyzer/analysis/operators.h"
#include "analyzer/analysis/time_chunk_analysis.h"
#include "analyzer/analysis/time_chunks.h"
#include "analyzer/analysis/timeline.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// Called after each step of the pass with its name: "analysis launches".
using Lap = std::function<void(const char*)>;

struct NamedAnalysis {
  const char* name;
  std::unique_ptr<TimeChunkAnalysis> analysis;
};

struct TimeChunkPass {
  Iterations iterations;
  std::vector<CategoryTimes> times;  // by iteration
  OperatorTable operators;
  std::vector<std::uint32_t> executions;  // of operators, that start in each iteration
  Devices devices;
  std::vector<NamedAnalysis> analyses;  // to be written
};

// The iterations alone, with where their time went. Errors: corruptTrace; cancelled.
Result<Iterations> iterationsOf(const Trace& trace, const Timeline& timeline, TimeChunkReader& chunks);
Result<std::vector<CategoryTimes>> categoriesOf(const Trace& trace, const Timeline& timeline,
                                                const Iterations& iterations, TimeChunkReader& chunks);

// Everything. Errors: corruptTrace; cancelled.
Result<TimeChunkPass> runTimeChunkPass(Trace& trace, const Timeline& timeline, TimeChunkReader& chunks,
                                       const Lap& lap);

}  // namespace pitwall::analysis
