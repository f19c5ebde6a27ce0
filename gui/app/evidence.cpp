// What a finding, or the selected event, points at on the timeline.
#include <QCoreApplication>
#include <QPointer>

#include "gui/app/main_window.h"
#include "gui/models/event_details.h"
#include "gui/views/critical_lane.h"

namespace pitwall::gui {

// Events are marked and the longest shown; a gap is marked and what happens meanwhile is selected.
void MainWindow::showEvidence(const EvidencePlace& place) {
  const auto& timeline = timeline_->timeline();
  if (evidence_cancel_) evidence_cancel_->store(true);
  if (!timeline) return;
  evidence_cancel_ = std::make_shared<std::atomic<bool>>(false);
  session_->ask([self = QPointer<MainWindow>(this), timeline, place,
                 cancel = evidence_cancel_](Trace& trace) {
    if (cancel->load()) return;
    auto found = std::make_shared<Result<EvidenceEvents>>(evidenceEvents(trace, *timeline, place, *cancel));
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [self, timeline, cancel, found] {
          // Another trace may be open meanwhile.
          if (self && !cancel->load() && timeline == self->timeline_->timeline()) self->markEvidence(*found);
        },
        Qt::QueuedConnection);
  });
}

void MainWindow::markEvidence(const Result<EvidenceEvents>& found) {
  if (!found.has_value()) return showError(QString::fromStdString(found.error().message));
  showPage(timeline_);
  timeline_->setHighlighted(found->events);
  timeline_->setMarked(std::nullopt);
  timeline_->revealTracks(found->tracks);
  if (found->range) {
    const auto& [from, to] = *found->range;
    timeline_->setMarked(TimeRange{from, to, found->tracks});
    timeline_->select(std::nullopt, false);
    timeline_->selectRange(TimeRange{from, to});
    timeline_->showTimes(from, to);
  } else if (found->longest) {
    showEventOnTimeline(*found->longest);
  } else if (!found->tracks.empty()) {
    timeline_->focusTrack(found->tracks.front());
  } else {
    showRemark(tr("The timeline has no event of that name."));
  }
  emit evidenceShown();
}

void MainWindow::showEventWithId(qint64 id) {
  const auto& timeline = timeline_->timeline();
  if (!timeline) return;
  session_->ask([self = QPointer<MainWindow>(this), timeline, id](Trace& trace) {
    const auto event = eventWithId(trace, *timeline, id);
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [self, timeline, event, id] {
          if (!self || timeline != self->timeline_->timeline()) return;
          if (event) self->showEventOnTimeline(*event);
          if (!event) self->showRemark(tr("There is no event with the id %1.").arg(id));
        },
        Qt::QueuedConnection);
  });
}

void MainWindow::showDetails(const Details& details, const std::vector<EventLink>& links,
                             const EventRef& event) {
  // Another event may have been selected meanwhile.
  if (!timeline_->timeline() || timeline_->selected() != event) return;
  Details all = details;
  const QString place =
      timeline_->criticalPath() ? describePlace(*timeline_->criticalPath(), event) : QString();
  if (!place.isEmpty()) all.emplace_back(tr("Critical path"), place);
  details_->setDetails(all, links);
  std::vector<std::pair<EventRef, EventRef>> arrows;
  for (const EventLink& link : links)
    arrows.emplace_back(link.waited_for ? link.event : event, link.waited_for ? event : link.event);
  timeline_->setArrows(std::move(arrows));
}

}  // namespace pitwall::gui
