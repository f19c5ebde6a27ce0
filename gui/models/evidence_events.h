// The events that the evidence of a finding names. Without Qt widgets; computed in the background.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "gui/timeline/hit.h"

namespace pitwall::gui {

struct EvidenceEvents {
  std::vector<EventRef> events;     // some of each name, the earliest
  std::optional<EventRef> longest;  // the longest of them
};

// A cell, or its first word, that is an event's name stands for the events of that name. Stops with what it
// has when *cancel becomes true.
EvidenceEvents evidenceEvents(const Timeline& timeline, const std::vector<std::vector<std::string>>& rows,
                              const std::atomic<bool>& cancel);

}  // namespace pitwall::gui
