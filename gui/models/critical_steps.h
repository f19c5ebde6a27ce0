// The critical path of an analysed trace as the timeline shows it: steps without a gap between them, each with the event that it is
// a part of. Plain C++.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/reader.h"
#include "gui/timeline/hit.h"

namespace pitwall::gui {

struct CriticalStep {
  TimeNs from = 0, to = 0;
  std::string part, title;        // as in the table analysis_critical_step
  std::optional<EventRef> event;  // none: a gap between events
};

struct CriticalSteps {
  std::vector<CriticalStep> steps;  // by time
  // Places of events on the path in a lane, ascending, by track and lane.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::uint32_t>> of_lane;

  const std::vector<std::uint32_t>& ofLane(std::size_t track, std::size_t lane) const;
  // The step at that time; none outside the path.
  std::optional<std::size_t> stepAt(TimeNs time) const;
  // The first step that is a part of the event.
  std::optional<std::size_t> stepOf(const EventRef& event) const;
  // The next step after (or before) step `from` that is a part of another event.
  std::optional<std::size_t> nextEvent(std::size_t from, bool forward) const;
};

// Of a trace that was analysed; without steps where it has no path. Errors: those of reading.
Result<std::shared_ptr<const CriticalSteps>> criticalSteps(Trace& trace, const Timeline& timeline);

}  // namespace pitwall::gui
