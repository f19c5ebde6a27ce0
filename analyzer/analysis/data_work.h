// What making batches consists of.
#pragma once

#include <span>

#include "analyzer/analysis/window.h"
#include "db/reader.h"

namespace pitwall::analysis {

// Writes analysis_data_work: the work of the threads `tracks`, which make batches during `made_ns` of the window,
// added up over the threads. Their events are read a chunk at a time, since each image has several. Errors:
// corruptTrace.
Status writeDataWork(Trace& trace, const Window& window, std::span<const TrackId> tracks, TimeNs made_ns);

}  // namespace pitwall::analysis
