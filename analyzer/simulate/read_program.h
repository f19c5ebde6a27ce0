// Reads from a trace what a simulation needs.
#pragma once

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/iterations.h"
#include "analyzer/analysis/time_chunks.h"
#include "analyzer/analysis/timeline.h"
#include "analyzer/simulate.h"
#include "analyzer/simulate/program.h"
#include "db/reader.h"

namespace pitwall::simulate {

struct Recorded {
  Trace& trace;
  const analysis::Activity& activity;
  const analysis::Timeline& timeline;
  const analysis::Iterations& iterations;
  analysis::TimeChunkReader& chunks;
  std::size_t most_events = 0;  // of the part that is replayed
};

// Fills in of `check` what it is about; `why` where the trace cannot be simulated at all. Errors: corruptTrace;
// cancelled.
Status readProgram(const Recorded& recorded, Program& program, ReplayCheck& check);

}  // namespace pitwall::simulate
