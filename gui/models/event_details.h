// The facts of a trace about one event, as text.
#pragma once

#include <QString>
#include <utility>
#include <vector>

#include "db/reader.h"
#include "gui/models/event_links.h"

namespace pitwall::gui {

// Name and value, as the details pane shows them.
using Details = std::vector<std::pair<QString, QString>>;

struct EventFacts {
  Details details;
  std::vector<EventLink> links;
};

// On the thread of `trace`. What cannot be read is reported among the details.
EventFacts factsOf(Trace& trace, const Timeline& timeline, const EventRef& event);

// The event with that id in the table `event`; nullopt: there is none, or the timeline does not show it. On the thread of `trace`.
std::optional<EventRef> eventWithId(Trace& trace, const Timeline& timeline, std::int64_t id);

}  // namespace pitwall::gui
