// Reads the events of parts of a trace for a report's timeline.
#pragma once

#include <vector>

#include "analyzer/excerpt/items.h"
#include "analyzer/report_timeline.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::excerpt {

class WindowReader {
 public:
  // All outlive it. `tracks` are those of timeline.rows.
  WindowReader(Trace& trace, const std::vector<TrackId>& tracks, const ReportTimelineLimits& limits,
               Items& items, ReportTimeline& timeline)
      : trace_(trace), tracks_(tracks), limits_(limits), items_(items), timeline_(timeline) {}

  // Adds what of begin..end no window has yet, at most `pieces` pieces; nothing where that would read too many events.
  // Errors: those of Trace::query and Trace::eventColumns.
  Status add(TimeNs begin_ns, TimeNs end_ns, std::size_t pieces);

 private:
  Status read(TimeNs begin_ns, TimeNs end_ns, std::size_t pieces);

  Trace& trace_;
  const std::vector<TrackId>& tracks_;
  const ReportTimelineLimits& limits_;
  Items& items_;
  ReportTimeline& timeline_;
};

}  // namespace pitwall::excerpt
