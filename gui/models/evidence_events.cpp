#include "gui/models/evidence_events.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "gui/timeline/search.h"

namespace pitwall::gui {
namespace {

constexpr std::size_t kMostEvents = 2000, kMostOfName = 50, kShortestName = 3;

class Finder {
 public:
  explicit Finder(const Timeline& timeline) : timeline_(timeline) {
    for (std::size_t id = 1; id < timeline.names.size(); ++id) {
      if (timeline.names[id].size() >= kShortestName) ids_[timeline.names[id]].push_back(id);
    }
  }

  void add(std::string_view text, const std::atomic<bool>& cancel) {
    const auto found = ids_.find(text);
    if (found == ids_.end()) return;
    std::vector<bool> names(timeline_.names.size(), false);
    for (const std::size_t id : found->second) names[id] = true;
    ids_.erase(found);  // looked up once
    std::optional<EventRef> at;
    for (std::size_t i = 0; i < kMostOfName && made_.events.size() < kMostEvents && !cancel.load(); ++i) {
      const auto next = findEvent(timeline_, names, at, true);
      if (!next || (at && !isLater(*next, *at))) break;  // begins again
      at = next;
      take(*next);
    }
  }
  EvidenceEvents finish() { return std::move(made_); }

 private:
  TimeNs startOf(const EventRef& event) const {
    return timeline_.tracks[event.track].lanes[event.lane].startNs(event.index);
  }
  TimeNs durOf(const EventRef& event) const {
    return timeline_.tracks[event.track].lanes[event.lane].durNs(event.index);
  }
  bool isLater(const EventRef& a, const EventRef& b) const {
    const TimeNs a_start = startOf(a), b_start = startOf(b);
    return std::tie(a_start, a.track, a.lane, a.index) > std::tie(b_start, b.track, b.lane, b.index);
  }
  void take(const EventRef& event) {
    made_.events.push_back(event);
    if (!made_.longest || durOf(event) > durOf(*made_.longest)) made_.longest = event;
  }

  const Timeline& timeline_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> ids_;
  EvidenceEvents made_;
};

}  // namespace

EvidenceEvents evidenceEvents(const Timeline& timeline, const std::vector<std::vector<std::string>>& rows,
                              const std::atomic<bool>& cancel) {
  Finder finder(timeline);
  for (const auto& row : rows) {
    for (const std::string& cell : row) {
      finder.add(cell, cancel);
      finder.add(std::string_view(cell).substr(0, cell.find(' ')), cancel);
    }
  }
  return finder.finish();
}

}  // namespace pitwall::gui
