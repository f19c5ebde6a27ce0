// Which events the table shows and in which order, as indices: nothing of an event is copied. Without Qt
// widgets; computed in the background.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "gui/timeline/hit.h"

namespace pitwall::gui {

// Numbers the events of a timeline from 0: by track, by lane, by start. Finds them back in logarithmic time
// of the number of lanes.
class EventNumbers {
 public:
  explicit EventNumbers(std::shared_ptr<const Timeline> timeline);

  std::size_t size() const { return first_.back(); }
  EventRef at(std::size_t number) const;
  const Timeline& timeline() const { return *timeline_; }

  struct Place {
    std::size_t track, lane;
  };
  const std::vector<Place>& places() const { return places_; }
  std::size_t firstOf(std::size_t place) const { return first_[place]; }

 private:
  std::shared_ptr<const Timeline> timeline_;
  std::vector<Place> places_;
  std::vector<std::size_t> first_;  // number of the first event of each place; at the end, of all
};

enum class EventKey { name, category, track, start, dur, depth };

struct EventQuestion {
  EventKey key = EventKey::start;
  bool descending = false;
  std::string words;  // each must be in the name or the track's title, ignoring case; empty: all
  std::optional<std::pair<TimeNs, TimeNs>> range = {};  // only events that overlap [first, second)
};

// Numbers of the events that pass, in order; equal ones in the order of their numbers. 4 bytes an event;
// events beyond 2^32 are left out. Stops with what it has, in no order, when *cancel becomes true.
std::vector<std::uint32_t> orderOf(const EventNumbers& numbers, const EventQuestion& question,
                                   const std::atomic<bool>* cancel = nullptr);

}  // namespace pitwall::gui
