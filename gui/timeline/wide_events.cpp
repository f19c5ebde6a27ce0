#include "gui/timeline/wide_events.h"

#include <algorithm>

namespace pitwall::gui {
namespace {

struct Search {
  const Lane& lane;
  const TilePyramid& pyramid;
  TimeNs from, to, least_ns;
  std::vector<std::size_t>& found;

  // Events from `first` on that start at `last` or earlier.
  void events(std::size_t first, TimeNs last) const {
    const auto starts = lane.columns().start.values();
    for (std::size_t i = first; i < starts.size() && starts[i] <= last && starts[i] < to; ++i) {
      if (lane.durNs(i) < least_ns || lane.endNs(i) <= from) continue;
      if (found.empty() || found.back() < i) found.push_back(i);  // one may reach into several tiles
    }
  }
  void tile(const TilePyramid::Tile& tile, int level) const {
    if (tile.longest_ns < least_ns) return;
    const TimeNs quarter_ns = TilePyramid::binNs(level) * TilePyramid::kQuarterBins;
    for (std::size_t q = 0; q < TilePyramid::kQuarters; ++q) {
      const TimeNs begin = tile.start_ns + static_cast<TimeNs>(q) * quarter_ns;
      const TimeNs last = begin + (quarter_ns - 1);
      if (begin >= to) return;
      if (last < from) continue;
      if (tile.child[q] != 0) {
        this->tile(pyramid.tile(tile.child[q]), level - 1);
      } else {
        events(tile.first[q], last);
      }
    }
  }
};

}  // namespace

void wideEvents(const Lane& lane, const TilePyramid& pyramid, TimeNs from, TimeNs to, TimeNs least_ns,
                std::vector<std::size_t>& found) {
  found.clear();
  const Search search{lane, pyramid, from, to, least_ns, found};
  if (pyramid.empty()) return search.events(lane.firstReaching(from), to);
  for (const TilePyramid::Tile& root : pyramid.roots()) search.tile(root, pyramid.rootLevel());
}

}  // namespace pitwall::gui
