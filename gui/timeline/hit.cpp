#include "gui/timeline/hit.h"

#include <algorithm>
#include <cmath>

namespace pitwall::gui {

std::optional<Hit> hitTest(const Lane& lane, const View& view, double x, double tolerance_px) {
  const auto from = static_cast<TimeNs>(std::floor(view.timeAt(x - tolerance_px)));
  const auto to = static_cast<TimeNs>(std::ceil(view.timeAt(x + 1 + tolerance_px)));
  const auto exact_from = view.timeAt(x), exact_to = view.timeAt(x + 1);
  const std::size_t first = lane.firstReaching(from), end = lane.firstAt(to);
  if (first >= end) return std::nullopt;
  // Events under the mouse come before those next to it; then the longest. Of millions of events in one pixel
  // only the first thousands are compared.
  constexpr std::size_t kMostLooked = 4096;
  Hit best{first, end - first};
  const auto touches = [&](std::size_t i) {
    return static_cast<double>(lane.endNs(i)) >= exact_from &&
           static_cast<double>(lane.startNs(i)) < exact_to;
  };
  for (std::size_t i = first + 1; i < std::min(end, first + kMostLooked); ++i) {
    if (touches(i) != touches(best.index) ? touches(i) : lane.durNs(i) > lane.durNs(best.index))
      best.index = i;
  }
  return best;
}

std::optional<EventRef> eventAt(const Timeline& timeline, std::size_t track, TimeNs start_ns, TimeNs dur_ns) {
  const auto& lanes = timeline.tracks[track].lanes;
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    for (std::size_t i = lanes[l].firstAt(start_ns); i < lanes[l].size() && lanes[l].startNs(i) == start_ns;
         ++i) {
      if (lanes[l].durNs(i) == dur_ns) return EventRef{track, l, i};
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> trackWithId(const Timeline& timeline, std::uint64_t id) {
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    if (timeline.tracks[t].id.value == id) return t;
  }
  return std::nullopt;
}

std::optional<EventRef> neighbour(const Timeline& timeline, const EventRef& from, bool forward,
                                  bool same_name) {
  const TimelineTrack& track = timeline.tracks[from.track];
  const Lane& lane = track.lanes[from.lane];
  EventRef at = from;
  if (!same_name) {
    if (forward ? at.index + 1 >= lane.size() : at.index == 0) return std::nullopt;
    at.index += forward ? std::size_t{1} : static_cast<std::size_t>(-1);
    return at;
  }
  std::vector<bool> name(lane.name(from.index) + std::size_t{1});
  name.back() = true;
  const NameSet names(name);
  static const NameIndex kNoIndex;
  const NameIndex& index = from.lane < track.name_indices.size() ? track.name_indices[from.lane] : kNoIndex;
  if (forward) {
    at.index = index.first(lane, names, from.index + 1, lane.size());
    return at.index < lane.size() ? std::optional(at) : std::nullopt;
  }
  const auto found = index.last(lane, names, 0, from.index);
  if (!found) return std::nullopt;
  at.index = *found;
  return at;
}

std::optional<EventRef> parentOf(const Timeline& timeline, const EventRef& from) {
  if (from.lane == 0) return std::nullopt;
  const auto& lanes = timeline.tracks[from.track].lanes;
  const TimeNs start = lanes[from.lane].startNs(from.index), end = lanes[from.lane].endNs(from.index);
  const Lane& above = lanes[from.lane - 1];
  const std::size_t i = above.firstReaching(start);
  if (i < above.size() && above.startNs(i) <= start && above.endNs(i) >= end)
    return EventRef{from.track, from.lane - 1, i};
  return std::nullopt;
}

std::optional<EventRef> childOf(const Timeline& timeline, const EventRef& from) {
  const auto& lanes = timeline.tracks[from.track].lanes;
  if (from.lane + 1 >= lanes.size()) return std::nullopt;
  const Lane& below = lanes[from.lane + 1];
  const std::size_t i = below.firstAt(lanes[from.lane].startNs(from.index));
  if (i < below.size() && below.endNs(i) <= lanes[from.lane].endNs(from.index))
    return EventRef{from.track, from.lane + 1, i};
  return std::nullopt;
}

}  // namespace pitwall::gui
