#include "gui/timeline/search_hits.h"

#include <algorithm>
#include <tuple>

namespace pitwall::gui {

SearchHits::SearchHits(std::shared_ptr<const Timeline> timeline) : timeline_(std::move(timeline)) {
  hits_.resize(timeline_->tracks.size());
  for (std::size_t t = 0; t < hits_.size(); ++t) hits_[t].resize(timeline_->tracks[t].lanes.size());
}

void SearchHits::add(const EventRef& event) {
  hits_[event.track][event.lane].push_back(static_cast<std::uint32_t>(event.index));
  ++count_;
}

bool SearchHits::has(const EventRef& event) const {
  return std::ranges::binary_search(hits_[event.track][event.lane], static_cast<std::uint32_t>(event.index));
}

// How many hits of a lane are before the event, in the order of all.
std::size_t SearchHits::before(std::size_t track, std::size_t lane, const EventRef& event) const {
  const Lane& of = timeline_->tracks[track].lanes[lane];
  const TimeNs start = timeline_->tracks[event.track].lanes[event.lane].startNs(event.index);
  std::size_t bound = event.index;
  if (track != event.track || lane != event.lane) {
    // Of those that start together the ones on earlier lanes are before it.
    const bool earlier = std::tie(track, lane) < std::tie(event.track, event.lane);
    bound = earlier && start < INT64_MAX ? of.firstAt(start + 1) : of.firstAt(start);
  }
  const auto& hits = hits_[track][lane];
  return static_cast<std::size_t>(std::ranges::lower_bound(hits, bound) - hits.begin());
}

std::size_t SearchHits::numberOf(const EventRef& hit) const {
  std::size_t number = 1;
  for (std::size_t t = 0; t < hits_.size(); ++t) {
    for (std::size_t l = 0; l < hits_[t].size(); ++l) {
      if (!hits_[t][l].empty()) number += before(t, l, hit);
    }
  }
  return number;
}

std::optional<EventRef> SearchHits::next(const std::optional<EventRef>& from, bool forward) const {
  using Key = std::tuple<TimeNs, std::size_t, std::size_t>;
  std::optional<std::pair<Key, EventRef>> best;
  for (std::size_t t = 0; t < hits_.size(); ++t) {
    for (std::size_t l = 0; l < hits_[t].size(); ++l) {
      const auto& hits = hits_[t][l];
      if (hits.empty()) continue;
      std::size_t at = forward ? 0 : hits.size() - 1;
      if (from) {
        at = before(t, l, *from);
        if (forward && at < hits.size() && EventRef{t, l, hits[at]} == *from) ++at;
        if (forward ? at == hits.size() : at-- == 0) continue;
      }
      const EventRef event{t, l, hits[at]};
      const Key key{timeline_->tracks[t].lanes[l].startNs(event.index), t, l};
      if (!best || (forward ? key < best->first : key > best->first)) best = {key, event};
    }
  }
  if (best) return best->second;
  return from && count_ > 0 ? next(std::nullopt, forward) : std::nullopt;
}

SearchHits findHits(std::shared_ptr<const Timeline> timeline, const SearchFilter& filter,
                    const std::atomic<bool>& cancel) {
  SearchHits found(timeline);
  const NameSet names(filter.names);
  if (names.empty()) return found;
  static const NameIndex kNoIndex;
  for (std::size_t t = 0; t < timeline->tracks.size(); ++t) {
    const TimelineTrack& track = timeline->tracks[t];
    for (std::size_t l = 0; l < track.lanes.size() && !cancel.load(); ++l) {
      const Lane& lane = track.lanes[l];
      const NameIndex& index = l < track.name_indices.size() ? track.name_indices[l] : kNoIndex;
      for (std::size_t i = index.first(lane, names, 0, lane.size()); i < lane.size();
           i = index.first(lane, names, i + 1, lane.size())) {
        const TimeNs dur = lane.durNs(i);
        if (dur >= filter.least_ns && dur <= filter.most_ns) found.add({t, l, i});
      }
    }
  }
  return found;
}

}  // namespace pitwall::gui
