// Live memory of all tags of a device as one row, one tag on another.
#pragma once

#include "gui/timeline/timeline.h"

namespace pitwall::gui {

// Ids of these tracks: this and more.
inline constexpr std::uint32_t kMemoryRow = 0xA0000000;

// Adds a counter row "memory by tag" for each process and device with counters "memory live: [DEVICE] TAG" of two tags or more. Its
// counter is their sum. Before tracks are arranged (track_rows.h), after they are loaded.
void addMemoryStacks(const Trace& trace, Timeline& timeline);

// What a tag itself uses at that time.
double ownValue(const std::vector<MemoryLayer>& layers, std::size_t layer, TimeNs time);

}  // namespace pitwall::gui
