// What an event waited for, and what waited for it, as the trace's dependencies and the order of device work say.
#pragma once

#include <QString>
#include <vector>

#include "db/reader.h"
#include "gui/timeline/hit.h"

namespace pitwall::gui {

struct EventLink {
  EventRef event;
  bool waited_for = false;  // by the event asked about; else it waited for that one
  TimeNs free_ns = 0;  // when it no longer held back the event that waited: its end, of a launch its start
  QString text;        // "gemm, stream order: ended 3.00 us before", for people
};

// First what it waited for, the one that held it back last in front; then what waited for it, by start. At most 64 of the
// trace's dependencies. `correlation` 0 = unknown. What cannot be read is left out. On the thread of `trace`.
std::vector<EventLink> linksOf(Trace& trace, const Timeline& timeline, const EventRef& event,
                               std::int64_t correlation);

}  // namespace pitwall::gui
