// What a finding, or the selected event, points at on the timeline.
#include <algorithm>

#include "gui/app/main_window.h"
#include "gui/timeline/search.h"

namespace pitwall::gui {
namespace {

constexpr std::size_t kEventsHighlighted = 2000;

}  // namespace

// The first cell of an evidence row that names events, or the iteration it is about, tells where to look.
void MainWindow::showFindingEvidence(const Finding* finding) {
  const auto& timeline = timeline_->timeline();
  if (!timeline || finding == nullptr) return;
  std::vector<EventRef> events;
  for (const auto& row : finding->evidence.rows) {
    for (const std::string& cell : row) {
      const std::size_t space = cell.find(' ');
      for (const std::string& text : {cell, cell.substr(0, space)}) {
        if (text.size() < 3 || events.size() >= kEventsHighlighted) continue;
        std::vector<bool> names(timeline->names.size(), false);
        bool any = false;
        for (std::size_t i = 1; i < names.size(); ++i) {
          names[i] = timeline->names[i] == text;
          any = any || names[i];
        }
        if (!any) continue;
        std::optional<EventRef> at;
        for (int hits = 0; hits < 50; ++hits) {
          const auto next = findEvent(*timeline, names, at, true);
          if (!next || (!events.empty() && *next == events.front())) break;
          at = next;
          events.push_back(*next);
        }
      }
    }
  }
  timeline_->setHighlighted(events);
  if (events.empty()) return;
  // All of it is marked; the longest is where the time went.
  const auto longest =
      std::max_element(events.begin(), events.end(), [&](const EventRef& a, const EventRef& b) {
        const auto& tracks = timeline->tracks;
        return tracks[a.track].lanes[a.lane].durNs(a.index) < tracks[b.track].lanes[b.lane].durNs(b.index);
      });
  showEventOnTimeline(*longest);
}

void MainWindow::showLinked(const std::vector<std::pair<quint64, qint64>>& linked) {
  const auto& timeline = timeline_->timeline();
  if (!timeline || !timeline_->selected()) return;
  const EventRef selected = *timeline_->selected();
  const TimeNs own_start = timeline->tracks[selected.track].lanes[selected.lane].startNs(selected.index);
  std::vector<std::pair<EventRef, EventRef>> arrows;
  for (const auto& [track_id, start] : linked) {
    for (std::size_t t = 0; t < timeline->tracks.size(); ++t) {
      if (timeline->tracks[t].id.value != track_id) continue;
      for (std::size_t l = 0; l < timeline->tracks[t].lanes.size(); ++l) {
        const Lane& lane = timeline->tracks[t].lanes[l];
        const std::size_t i = lane.firstAt(start);
        if (i >= lane.size() || lane.startNs(i) != start) continue;
        const EventRef other{t, l, i};
        arrows.emplace_back(start < own_start ? other : selected, start < own_start ? selected : other);
        break;
      }
    }
  }
  timeline_->setArrows(std::move(arrows));
}

}  // namespace pitwall::gui
