// The table of simulated changes, from which rules take their gains.
#pragma once

#include "analyzer/analysis/device_tables.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::simulate {

// Writes analysis_simulation. Errors: corruptTrace from reading events or dependencies.
Status writeSimulation(Trace& trace, const analysis::Context& context);

}  // namespace pitwall::simulate
