// What the timeline shows, in words: for screen readers, to be copied into a message, and for tests.
#pragma once

#include <QString>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "gui/timeline/hit.h"

namespace pitwall::gui {

struct ViewToDescribe {
  std::shared_ptr<const Timeline> timeline;
  TimeNs from_ns = 0, to_ns = 0;    // in view
  std::vector<std::size_t> tracks;  // of the rows in sight, from above
  std::optional<EventRef> selected;
  std::optional<std::pair<TimeNs, TimeNs>> range;
};

// The stretch of time, what is selected, and for each row how busy it is, its longest gap and what takes most of its time, or how a counter
// goes. Reads the events in view; ends early when *cancel becomes true.
QString describeView(const ViewToDescribe& view, const std::atomic<bool>& cancel);

// When events of a track cover no time, from the first of them in [from, to) to the last: the longest stretch. {0, 0}: there is none.
std::pair<TimeNs, TimeNs> longestGap(const TimelineTrack& track, TimeNs from, TimeNs to);

}  // namespace pitwall::gui
