// The events of a lane that are wide enough for a label.
#pragma once

#include <vector>

#include "gui/timeline/tile_pyramid.h"

namespace pitwall::gui {

// Replaces `found` by the indices of the events that touch [from, to) and last at least `least_ns`, by start.
// Passes over tiles without such an event, so that a million short events take no longer than
// none.
void wideEvents(const Lane& lane, const TilePyramid& pyramid, TimeNs from, TimeNs to, TimeNs least_ns,
                std::vector<std::size_t>& found);

}  // namespace pitwall::gui
