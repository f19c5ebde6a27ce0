// Distributes the events of a track to as few lanes as possible without overlap in a lane.
#pragma once

#include <span>
#include <vector>

#include "gui/timeline/lane.h"

namespace pitwall::gui {

inline constexpr std::size_t kMostLanes = 256;

// Each event goes into the first lane that is free; so one that is nested in another is below it. Past
// kMostLanes an event is shortened where the next begins in that lane.
class LaneBuilder {
 public:
  void reserve(std::size_t events) { rows_.reserve(events); }
  void add(TimeNs start_ns, TimeNs dur_ns, std::uint32_t look);
  // All of them; the spans are of one size. Events ordered by start cost least; late ones are sorted in.
  void add(std::span<const TimeNs> start_ns, std::span<const TimeNs> dur_ns,
           std::span<const std::uint32_t> looks);
  // The lanes of what was added; the builder is empty afterwards.
  std::vector<Lane> finish();

 private:
  struct LateEvent {
    TimeNs start_ns, dur_ns;
    std::uint32_t look;
  };
  bool followInOrder(std::span<const TimeNs> start_ns, std::span<const TimeNs> dur_ns) const;
  void sortIn();
  std::vector<Lane> distribute();

  Lane rows_;  // by start; they may overlap
  std::vector<LateEvent> late_;
  TimeNs last_start_ = 0, last_dur_ = 0;
};

}  // namespace pitwall::gui
