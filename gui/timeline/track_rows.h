// Which rows a timeline has: titles of processes and tracks, and their order, with counters below the thread or device that they are of.
#pragma once

#include "gui/timeline/timeline.h"

namespace pitwall::gui {

// Adds the trace's processes and tracks, in the order of their ids and without events.
void describeTracks(const Trace& trace, Timeline& timeline);

// Brings tracks whose events and counters are known into the order of the rows. Adds a track for each thread that has counters only.
void arrangeTracks(Timeline& timeline);

}  // namespace pitwall::gui
