// The timeline for assistive technology: a list of the rows in sight; the row that holds the selected
// event has it as a child; the value is how much of the trace is shown, and can be set.
#pragma once

#include <QString>

namespace pitwall::gui {

class TimelineView;

// Once per process, before the first timeline is asked for.
void installTimelineAccessibility();

// "conv1, 500 us, on main, starts at 12.3 ms": the selected event in words, empty when none is.
QString describeSelected(const TimelineView& view);

// The selection, the focused row or the view changed: notifies listeners.
void announceSelection(TimelineView& view);
void announceView(TimelineView& view);

}  // namespace pitwall::gui
