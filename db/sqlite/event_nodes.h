// The summary of a chunk of events: groups by name and kind, for statistics, and nodes of some consecutive
// events of one depth, for drawing many events on few pixels.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "db/units.h"

namespace pitwall::store {

// Smaller chunks have no summary, since it would be as large as the chunk.
inline constexpr std::size_t kLeastSummedUp = 256;
inline constexpr std::int64_t kNodeEvents = 64;

struct EventGroup {
  std::int64_t name = 0, kind = 0;
  std::int64_t events = 0;
  TimeNs total_ns = 0;  // cut off at the range's end
  TimeNs least_ns = std::numeric_limits<TimeNs>::max();
  TimeNs most_ns = std::numeric_limits<TimeNs>::min();

  void add(TimeNs dur);
  void add(const EventGroup& other);
};

struct EventNode {
  std::int64_t depth = 0;
  TimeNs start_ns = std::numeric_limits<TimeNs>::max();  // least start
  TimeNs end_ns = std::numeric_limits<TimeNs>::min();    // greatest end
  std::int64_t events = 0;
  TimeNs total_ns = 0;    // sum of the durations, cut off at the range's end
  TimeNs longest_ns = 0;  // greatest duration
  std::int64_t name = 0;  // string.id of that event's name; 0 = none
  std::int64_t row = 0;   // of the first event, in the chunk

  void add(TimeNs start, TimeNs dur, std::int64_t event_name);
  void add(const EventNode& other);
};

// The columns that a summary is made of, as long as the chunk.
struct EventRows {
  std::span<const std::int64_t> start, dur, name, depth;
};

// Groups of (name, kind) by first use; none where there are too many to be a summary.
std::vector<EventGroup> groupEvents(std::span<const std::int64_t> name, std::span<const std::int64_t> kind,
                                    std::span<const std::int64_t> dur);

// Nodes of up to kNodeEvents events, by depth and then by start.
std::vector<EventNode> nodesOf(const EventRows& rows);

}  // namespace pitwall::store
