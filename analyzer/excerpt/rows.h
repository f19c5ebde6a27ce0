// Which rows of a trace a report's timeline shows, and what they are called.
#pragma once

#include <vector>

#include "analyzer/report_timeline.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::excerpt {

struct ChosenRows {
  std::vector<TrackId> tracks;  // in the order in which they are shown: devices, then threads
  std::vector<ReportTimeline::Row> rows;
  std::int64_t left_out = 0;
};

// Rows of evidence and of the critical path, then those with the most events in the home window.
// Errors: those of Trace::query and Trace::eventBins.
Result<ChosenRows> chooseRows(Trace& trace, const Report& report, const ReportTimeline& timeline,
                              const ReportTimelineLimits& limits);

// Whether a place is on this track, as far as it names a device, a thread or a process.
bool isOn(const EvidencePlace& place, const Trace& trace, TrackId track);

}  // namespace pitwall::excerpt
