// All events that a search found, by lane: which is next, which number it has, and what to paint.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "gui/timeline/hit.h"

namespace pitwall::gui {

class SearchHits {
 public:
  explicit SearchHits(std::shared_ptr<const Timeline> timeline);

  // In a lane in ascending order.
  void add(const EventRef& event);

  std::size_t count() const { return count_; }
  // Indices of events in that lane, ascending.
  const std::vector<std::uint32_t>& ofLane(std::size_t track, std::size_t lane) const {
    return hits_[track][lane];
  }
  bool has(const EventRef& event) const;
  // In the order of start, track, lane; after the last the first. nullopt: there is none.
  std::optional<EventRef> next(const std::optional<EventRef>& from, bool forward) const;
  // From 1, in that order.
  std::size_t numberOf(const EventRef& hit) const;

 private:
  std::size_t before(std::size_t track, std::size_t lane, const EventRef& event) const;

  std::shared_ptr<const Timeline> timeline_;
  std::vector<std::vector<std::vector<std::uint32_t>>> hits_;
  std::size_t count_ = 0;
};

// Which events are searched for.
struct SearchFilter {
  std::vector<bool> names;                           // by StringId.value
  TimeNs least_ns = INT64_MIN, most_ns = INT64_MAX;  // of the duration
};

// Stops with what it has when *cancel becomes true.
SearchHits findHits(std::shared_ptr<const Timeline> timeline, const SearchFilter& filter,
                    const std::atomic<bool>& cancel);

}  // namespace pitwall::gui
