// Opening, memory and queries over all events for timeline_bench.
#pragma once

#include "gui/timeline/timeline.h"

namespace pitwall::bench {

// Opens the trace without and with the viewer's cache; prints times and memory.
std::shared_ptr<const gui::Timeline> measureOpening(const std::string& path);
// Aggregation, search, the order of the event table, the flame graph; `path` is the timeline's trace.
void measureQueries(const std::shared_ptr<const gui::Timeline>& timeline, const std::string& path);

}  // namespace pitwall::bench
