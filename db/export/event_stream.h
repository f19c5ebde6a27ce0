// Streams the contents of a trace to the export formats.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "db/event.h"
#include "db/export/selection.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::exporting {

// An event with its texts; they live as long as the trace.
struct FullEvent {
  Event event;
  std::string_view name;
  std::string_view args;  // a JSON object; "" none
};

// Calls `visit` with the selected events of one track, ordered by start, outer ones first. Reads only the
// chunks that the selection touches, one at a time. Errors: those of Trace::eventColumns, of `visit` and of
// Pace::advance.
Status eachEvent(Trace& trace, TrackId track, const Selection& selection, Pace& pace,
                 const std::function<Status(const FullEvent&)>& visit);

// Samples of one counter track, ordered by time; of the range, with the value in effect at its begin.
Result<std::vector<CounterSample>> samplesOf(Trace& trace, TrackId track, const Selection& selection);

// Calls `visit` with every dependency, in their order.
Status eachDependency(Trace& trace, Pace& pace, const std::function<Status(const Dependency&)>& visit);

}  // namespace pitwall::exporting
