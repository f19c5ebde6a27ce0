// Distributes the events of a track to as few lanes as possible without overlap in a lane.
#pragma once

#include <vector>

#include "gui/timeline/lane.h"

namespace pitwall::gui {

inline constexpr std::size_t kMostLanes = 256;

// Each event goes into the first lane that is free; so one that is nested in another is below it. Past
// kMostLanes an event is shortened where the next begins in that lane.
class LaneBuilder {
 public:
  void reserve(std::size_t events) { rows_.reserve(events); }
  // Events ordered by start cost least; late ones are sorted in.
  void add(TimeNs start_ns, TimeNs dur_ns, std::uint32_t look) {
    if (dur_ns < 0) dur_ns = 0;
    TimeNs end = 0;
    if (__builtin_add_overflow(start_ns, dur_ns, &end)) dur_ns = endOfTime() - start_ns;
    // Of two that start together the one around the other comes first.
    if (!rows_.empty() && (start_ns < last_start_ || (start_ns == last_start_ && dur_ns > last_dur_))) {
      late_.push_back({start_ns, dur_ns, look});
      return;
    }
    last_start_ = start_ns;
    last_dur_ = dur_ns;
    rows_.appendAny(start_ns, dur_ns, look);
  }
  // The lanes of what was added; the builder is empty afterwards.
  std::vector<Lane> finish();

 private:
  struct LateEvent {
    TimeNs start_ns, dur_ns;
    std::uint32_t look;
  };
  static TimeNs endOfTime();
  void sortIn();
  std::vector<Lane> distribute();

  Lane rows_;  // by start; they may overlap
  std::vector<LateEvent> late_;
  TimeNs last_start_ = 0, last_dur_ = 0;
};

}  // namespace pitwall::gui
