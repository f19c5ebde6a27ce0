// Reads from a trace what a simulation needs.
#pragma once

#include "analyzer/simulate.h"
#include "analyzer/simulate/program.h"
#include "db/reader.h"

namespace pitwall::simulate {

// Fills in of `check` what it is about; `why` where the trace cannot be simulated at all. Errors: corruptTrace;
// cancelled.
Status readProgram(Trace& trace, const SimulateOptions& options, Program& program, ReplayCheck& check);

}  // namespace pitwall::simulate
