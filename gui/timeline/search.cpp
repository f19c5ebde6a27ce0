#include "gui/timeline/search.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace pitwall::gui {
namespace {

bool equalIgnoringCase(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

using Key = std::tuple<TimeNs, std::size_t, std::size_t>;  // start, track, lane: a total order

// The nearest match of one lane after (before) `key`.
std::optional<std::size_t> nearest(const Lane& lane, const std::vector<bool>& names, const Key& key,
                                   std::size_t track, std::size_t lane_index, bool forward) {
  const auto keyOf = [&](std::size_t i) { return Key{lane.startNs(i), track, lane_index}; };
  std::size_t i = lane.firstAt(std::get<0>(key));
  if (forward) {
    for (; i < lane.size(); ++i) {
      if (keyOf(i) > key && names[lane.name(i)]) return i;
    }
  } else {
    while (i < lane.size() && keyOf(i) < key) ++i;
    while (i > 0) {
      --i;
      if (keyOf(i) < key && names[lane.name(i)]) return i;
    }
  }
  return std::nullopt;
}

std::optional<EventRef> nearest(const Timeline& timeline, const std::vector<bool>& names, const Key& key,
                                bool forward) {
  std::optional<EventRef> best;
  Key best_key;
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    const auto& lanes = timeline.tracks[t].lanes;
    for (std::size_t l = 0; l < lanes.size(); ++l) {
      const auto i = nearest(lanes[l], names, key, t, l, forward);
      if (!i) continue;
      const Key found{lanes[l].startNs(*i), t, l};
      if (!best || (forward ? found < best_key : found > best_key)) {
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
  std::vector<bool> matches(timeline.names.size(), false);
  if (text.empty()) return matches;
  for (std::size_t i = 0; i < timeline.names.size(); ++i) matches[i] = containsText(timeline.names[i], text);
  return matches;
}

std::optional<EventRef> findEvent(const Timeline& timeline, const std::vector<bool>& names,
                                  const std::optional<EventRef>& from, bool forward) {
  const Key first{INT64_MIN, 0, 0}, last{INT64_MAX, SIZE_MAX, SIZE_MAX};
  Key key = forward ? first : last;
  if (from)
    key = {timeline.tracks[from->track].lanes[from->lane].startNs(from->index), from->track, from->lane};
  if (const auto found = nearest(timeline, names, key, forward)) return found;
  return nearest(timeline, names, forward ? first : last, forward);
}

std::size_t countEvents(const Timeline& timeline, const std::vector<bool>& names) {
  std::size_t count = 0;
  for (const TimelineTrack& track : timeline.tracks) {
    for (const Lane& lane : track.lanes) {
      for (std::size_t i = 0; i < lane.size(); ++i) count += names[lane.name(i)];
    }
  }
  return count;
}

}  // namespace pitwall::gui
