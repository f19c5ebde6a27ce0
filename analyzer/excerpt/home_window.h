// The part of a trace that a report's timeline shows first.
#pragma once

#include "analyzer/report_timeline.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::excerpt {

// Sets begin and end of the trace and of that part, and what says which part it is. Leaves an empty timeline empty.
// Errors: those of Trace::query.
Status findHome(Trace& trace, const Report& report, const ReportTimelineLimits& limits,
                ReportTimeline& timeline);

// About how many events are within. Errors: those of Trace::query.
Result<double> eventsWithin(Trace& trace, TimeNs begin_ns, TimeNs end_ns);

}  // namespace pitwall::excerpt
