// Native functions that threads execute: analysis_native.
#pragma once

#include <span>

#include "analyzer/analysis/stack_sums.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// Writes analysis_native: of threads that run Python from their tracks kNativeFunctionTrack, of others from `stacks`, which are
// what sumStacks() returns. Errors: as Trace::counters.
Status writeNativeFunctions(Trace& trace, std::span<const ThreadStacks> stacks);

}  // namespace pitwall::analysis
