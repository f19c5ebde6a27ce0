// The critical path of a replayed program, by name, and what limits it.
#pragma once

#include "analyzer/simulate.h"
#include "analyzer/simulate/program.h"
#include "analyzer/simulate/replay.h"

namespace pitwall::simulate {

SimulatedPath summarizePath(const Program& program, const Lengths& lengths, const Replayed& replayed);

}  // namespace pitwall::simulate
