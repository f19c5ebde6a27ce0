// Where on the timeline a row of a finding's evidence is. Without Qt widgets; computed in the background.
#pragma once

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/report.h"
#include "gui/timeline/hit.h"

namespace pitwall::gui {

struct EvidenceEvents {
  std::optional<std::pair<TimeNs, TimeNs>> range;  // of a row that is a time range, such as a gap
  std::vector<std::size_t> tracks;                 // that it is on; empty: all
  std::vector<EventRef> events;                    // of a row that is about events: the longest of them
  std::optional<EventRef> longest;                 // in steady iterations, where there is one
};

// Reads `trace` for the executions of an operator only. Stops with what it has when *cancel becomes true. Errors: those of reading.
Result<EvidenceEvents> evidenceEvents(Trace& trace, const Timeline& timeline, const EvidencePlace& place,
                                      const std::atomic<bool>& cancel);

// The tracks of the place's device, thread, process or counter; empty: it names none.
std::vector<std::size_t> evidenceTracks(const Timeline& timeline, const EvidencePlace& place);

}  // namespace pitwall::gui
