// Where a trace is cut, so that about equally many events start between two cuts.
#pragma once

#include <cstddef>
#include <vector>

#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// Ascending; none where the trace is small enough to be looked at in one piece. Reading a slice decodes whole
// chunks, those that lie across a cut twice; so slices are never smaller than twice what lies across a cut.
// Except that other than 0 `events_at_once` is taken at its word.
// Errors: corruptTrace.
Result<std::vector<TimeNs>> planSlices(Trace& trace, std::size_t events_at_once);

}  // namespace pitwall::analysis
