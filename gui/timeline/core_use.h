// How much of each CPU the sampled threads use, from where they ran and how much: a counter for each.
#pragma once

#include "gui/timeline/timeline.h"

namespace pitwall::gui {

// Ids of these tracks: this and more.
inline constexpr std::uint32_t kCoreRow = 0xC0000000;

// Adds a row "CPUs" at the end, one for each rank, with a counter for each CPU that a thread was seen on: the sum of the threads' shares, each for
// the interval in which its sample holds. A thread that moves meanwhile counts for the CPU that it was seen on. Nothing where no thread was sampled.
// Tracks are arranged (track_rows.h).
void addCoreUse(const Trace& trace, Timeline& timeline);

}  // namespace pitwall::gui
