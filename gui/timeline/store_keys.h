// Events of a key-value store show their key: "KVStoreReduce conv1.weight".
#pragma once

#include "db/result.h"
#include "gui/timeline/hit.h"
#include "gui/timeline/timeline.h"

namespace pitwall::gui {

// Finds the operators of stores in the tracks, and names their keys. Reads nothing where the trace has no such operators. Errors: those of
// reading.
Status addStoreKeys(Trace& trace, Timeline& timeline);

// What has room on the event, a number for Timeline::label().
std::uint32_t labelOf(const Timeline& timeline, const EventRef& event);
// The event's name, with its key.
const std::string& fullNameOf(const Timeline& timeline, const EventRef& event);

}  // namespace pitwall::gui
