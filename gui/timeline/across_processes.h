// One event in all processes: a collective, or another step that ranks take together.
#pragma once

#include <vector>

#include "gui/timeline/hit.h"
#include "gui/timeline/timeline.h"

namespace pitwall::gui {

// Of each process the execution of the selected event's name, on rows of the same kind, whose end is nearest to the selected
// one's: what ranks do together ends everywhere at about the same time. In the order of the processes, the selected event for its own. Processes
// without that name are left out. Takes time for the events of that name near the end, and the logarithm of all.
std::vector<EventRef> sameInAllProcesses(const Timeline& timeline, const EventRef& event);

}  // namespace pitwall::gui
