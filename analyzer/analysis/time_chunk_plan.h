// Where a trace is cut, so that about equally many events start between two cuts.
#pragma once

#include <cstddef>
#include <vector>

#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// Ascending; none where the trace is small enough to be read at once. Reading a time chunk decodes whole
// stored chunks, those across a cut twice; so time chunks are never smaller than twice the events across a
// cut. An `events_at_once` other than 0 is used as given. Errors: corruptTrace.
Result<std::vector<TimeNs>> planTimeChunks(Trace& trace, std::size_t events_at_once);

}  // namespace pitwall::analysis
