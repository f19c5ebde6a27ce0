// The order and depths of a track's events.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "db/event.h"
#include "db/import/build/tally.h"

namespace pitwall::import {

class Nesting {
 public:
  explicit Nesting(Tally& tally) : tally_(tally) {}

  // Sorts the events by start, the longer first, and sets their depths. `open`: the ends of ranges that may
  // enclose events of the next call for this track. `thread`: the key of the track's thread, where events
  // that overlap without nesting are counted; "" = none.
  void apply(std::vector<Event>& events, std::vector<std::int64_t>& open, std::string_view thread);

 private:
  Tally& tally_;
  std::vector<Event> sorted_;  // scratch
};

}  // namespace pitwall::import
