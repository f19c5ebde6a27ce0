// What a finding, or the selected event, points at on the timeline.
#include "gui/app/main_window.h"
#include "gui/models/evidence_events.h"

namespace pitwall::gui {

// All of it is marked, and the longest shown.
void MainWindow::showFindingEvidence(const Finding* finding) {
  const auto& timeline = timeline_->timeline();
  evidence_.cancel();
  if (!timeline || finding == nullptr) return;
  evidence_.ask([timeline, rows = finding->evidence.rows](
                    const std::atomic<bool>& cancel) { return evidenceEvents(*timeline, rows, cancel); },
                [this, timeline](const EvidenceEvents& found) {
                  if (timeline != timeline_->timeline()) return;  // another trace is open
                  timeline_->setHighlighted(found.events);
                  if (found.longest) showEventOnTimeline(*found.longest);
                });
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
