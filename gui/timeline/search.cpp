#include "gui/timeline/search.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace pitwall::gui {
namespace {

bool equalIgnoringCase(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

using HitOrder = std::tuple<TimeNs, std::size_t, std::size_t, std::size_t>;  // start, track, lane, index

// The nearest match of one lane after (before) `key`, if it is nearer than `best`.
std::optional<std::size_t> nearest(const TimelineTrack& track, std::size_t lane_index, const NameSet& names,
                                   const HitOrder& key, std::size_t track_index,
                                   const std::optional<HitOrder>& best, bool forward) {
  static const NameIndex kNoIndex;
  const Lane& lane = track.lanes[lane_index];
  const NameIndex& index = lane_index < track.name_indices.size() ? track.name_indices[lane_index] : kNoIndex;
  const auto& [time, key_track, key_lane, key_index] = key;
  const std::pair here{track_index, lane_index}, there{key_track, key_lane};
  // Of the events that start together with it, those of later lanes come after it.
  const auto after = [&](TimeNs t) { return t == INT64_MAX ? lane.size() : lane.firstAt(t + 1); };
  if (forward) {
    const std::size_t from = here == there ? key_index + 1 : here > there ? lane.firstAt(time) : after(time);
    const std::size_t end = best ? after(std::get<0>(*best)) : lane.size();
    const std::size_t i = from < end ? index.first(lane, names, from, end) : end;
    return i < end ? std::optional(i) : std::nullopt;
  }
  const std::size_t end = here == there ? key_index : here < there ? after(time) : lane.firstAt(time);
  return index.last(lane, names, best ? lane.firstAt(std::get<0>(*best)) : 0, end);
}

std::optional<EventRef> nearest(const Timeline& timeline, const NameSet& names, const HitOrder& key,
                                bool forward) {
  std::optional<EventRef> best;
  std::optional<HitOrder> best_key;
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    const TimelineTrack& track = timeline.tracks[t];
    for (std::size_t l = 0; l < track.lanes.size(); ++l) {
      const auto i = nearest(track, l, names, key, t, best_key, forward);
      if (!i) continue;
      const HitOrder found{track.lanes[l].startNs(*i), t, l, *i};
      if (!best || (forward ? found < *best_key : found > *best_key)) {
        best = EventRef{t, l, *i};
        best_key = found;
      }
    }
  }
  return best;
}

}  // namespace

bool containsText(const std::string& text, const std::string& part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), equalIgnoringCase) != text.end();
}

std::vector<bool> matchingNames(const Timeline& timeline, const std::string& text) {
  return matchingNames(timeline.names, text);
}

std::vector<bool> matchingNames(const std::vector<std::string>& names, const std::string& text) {
  std::vector<bool> matches(names.size(), false);
  if (text.empty()) return matches;
  for (std::size_t i = 0; i < names.size(); ++i) matches[i] = containsText(names[i], text);
  return matches;
}

std::optional<EventRef> findEvent(const Timeline& timeline, const std::vector<bool>& names,
                                  const std::optional<EventRef>& from, bool forward) {
  // Before and after every event; no track is the last one's.
  const HitOrder first{INT64_MIN, SIZE_MAX, SIZE_MAX, 0}, last{INT64_MAX, SIZE_MAX, SIZE_MAX, 0};
  HitOrder key = forward ? first : last;
  if (from)
    key = {timeline.tracks[from->track].lanes[from->lane].startNs(from->index), from->track, from->lane,
           from->index};
  const NameSet set(names);
  if (set.empty()) return std::nullopt;
  if (const auto found = nearest(timeline, set, key, forward)) return found;
  return nearest(timeline, set, forward ? first : last, forward);
}

std::size_t countEvents(const Timeline& timeline, const std::vector<bool>& names) {
  if (!timeline.name_counts.empty()) {
    std::uint64_t known = 0;
    for (std::size_t name = 0; name < std::min(names.size(), timeline.name_counts.size()); ++name)
      known += names[name] ? timeline.name_counts[name] : 0;
    return known;
  }
  const std::vector<std::uint8_t> has(names.begin(), names.end());
  std::size_t count = 0;
  for (const TimelineTrack& track : timeline.tracks) {
    for (const Lane& lane : track.lanes) {
      for (const std::uint32_t look : lane.columns().look.values()) {
        const std::uint32_t name = Lane::nameOf(look);
        count += name < has.size() ? has[name] : 0;
      }
    }
  }
  return count;
}

}  // namespace pitwall::gui
