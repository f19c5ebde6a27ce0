// Events ordered by their start. Each lane is in order already, so that lanes are only merged.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace pitwall::gui {

class EventNumbers;

// Beyond this number of lanes, merging is slower than sorting all events.
inline constexpr std::size_t kMostMergedPlaces = 2048;

// Orders `kept`, numbers that ascend, by start; equal ones in the order of their numbers. Precondition: at
// most kMostMergedPlaces places. Stops, with them in no order, when *cancel becomes true.
void orderByStart(const EventNumbers& numbers, bool descending, std::vector<std::uint32_t>& kept,
                  const std::atomic<bool>* cancel);

}  // namespace pitwall::gui
