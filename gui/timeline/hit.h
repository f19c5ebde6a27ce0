// The event under the mouse, and its neighbours in a lane.
#pragma once

#include <optional>

#include "gui/timeline/timeline.h"
#include "gui/timeline/viewport.h"

namespace pitwall::gui {

// One event of the timeline, by its place.
struct EventRef {
  std::size_t track = 0, lane = 0, index = 0;
  friend bool operator==(const EventRef&, const EventRef&) = default;
};

struct Hit {
  std::size_t index = 0;  // in the lane: the longest event in reach
  std::size_t count = 0;  // events in reach
};

// Events of a lane at pixel x or at most `tolerance_px` away; none: nullopt.
std::optional<Hit> hitTest(const Lane& lane, const View& view, double x, double tolerance_px = 3);

// The event of that track (index into timeline.tracks) that starts then and takes so long; nullopt: there is none.
std::optional<EventRef> eventAt(const Timeline& timeline, std::size_t track, TimeNs start_ns, TimeNs dur_ns);
// The track with this id; nullopt: the timeline has none.
std::optional<std::size_t> trackWithId(const Timeline& timeline, std::uint64_t id);

// The event before or after in the same lane; with same_name, the nearest of that name.
std::optional<EventRef> neighbour(const Timeline& timeline, const EventRef& from, bool forward,
                                  bool same_name);
// The event that encloses this one (in the lane above, at its start), or the first one inside it (in the lane
// below).
std::optional<EventRef> parentOf(const Timeline& timeline, const EventRef& from);
std::optional<EventRef> childOf(const Timeline& timeline, const EventRef& from);

}  // namespace pitwall::gui
