// Searching events: hits while one types, the next one, how many.
#include "gui/timeline/search.h"

#include <QCoreApplication>
#include <QPointer>
#include <QStatusBar>

#include "analyzer/units_text.h"
#include "gui/app/main_window.h"

namespace pitwall::gui {

void MainWindow::makeSearch() {
  typing_.setSingleShot(true);
  typing_.setInterval(150);  // one request per pause, not one per letter
  connect(&typing_, &QTimer::timeout, this, [this] { search(search_->text(), std::nullopt); });
  connect(search_, &QLineEdit::textChanged, &typing_, qOverload<>(&QTimer::start));
  connect(timeline_, &TimelineView::eventSelected, this, &MainWindow::showHitNumber);
  search_->setToolTip(
      tr("A part of the name; /a regular expression/; dur > 5ms; layer:conv1; arg:4096. Return shows "
         "the next hit, Shift+Return the one before, Escape goes back and keeps it."));
}

void MainWindow::find(const QString& text, bool forward) {
  if (!timeline_->timeline() || text.isEmpty()) return;
  typing_.stop();
  if (timeline_->hits() && text == searched_) return goToHit(forward);
  search(text, forward);
}

// With `go` the next hit is shown, once they are known.
void MainWindow::search(const QString& text, std::optional<bool> go) {
  const auto& timeline = timeline_->timeline();
  if (search_cancel_) search_cancel_->store(true);
  searched_ = text;
  timeline_->setHits(nullptr);
  hit_number_->clear();
  if (!timeline) return;
  const SearchQuery query = parseSearch(text);
  if (!query.error.isEmpty())
    return showRemark(tr("The regular expression is not valid: %1").arg(query.error));
  if (query.isEmpty()) return;
  // A name is found at once.
  if (go && query.isOfTimeline() && !query.least_ns && !query.most_ns) {
    const auto found = findEvent(*timeline, filterOf(query, *timeline).names, timeline_->selected(), *go);
    if (found) showHit(*found);
    go.reset();
  }
  search_cancel_ = std::make_shared<std::atomic<bool>>(false);
  const auto done = [self = QPointer<MainWindow>(this), timeline, go,
                     cancel = search_cancel_](Result<std::shared_ptr<const SearchHits>> hits) {
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [self, timeline, go, cancel, hits = std::move(hits)] {
          if (self && !cancel->load() && timeline == self->timeline_->timeline()) self->showHits(hits, go);
        },
        Qt::QueuedConnection);
  };
  if (query.isOfTimeline()) {
    QThreadPool::globalInstance()->start([timeline, query, done, cancel = search_cancel_] {
      if (!cancel->load()) done(searchEvents(nullptr, timeline, query, *cancel));
    });
  } else {
    session_->ask([timeline, query, done, cancel = search_cancel_](Trace& trace) {
      if (!cancel->load()) done(searchEvents(&trace, timeline, query, *cancel));
    });
  }
}

void MainWindow::showHits(const Result<std::shared_ptr<const SearchHits>>& hits, std::optional<bool> go) {
  if (!hits.has_value()) return showError(QString::fromStdString(hits.error().message));
  timeline_->setHits(*hits);
  showHitNumber();
  if (go) goToHit(*go);
  emit searched();
}

void MainWindow::goToHit(bool forward) {
  const auto next = timeline_->hits()->next(timeline_->selected(), forward);
  if (next) showHit(*next);
}

// The focus stays in the search field, where Return shows the next one.
void MainWindow::showHit(const EventRef& hit) {
  pages_->setCurrentWidget(timeline_);
  timeline_->goTo(hit);
}

void MainWindow::showHitNumber() {
  const auto& hits = timeline_->hits();
  if (!hits) return;
  const QString count = QString::fromStdString(showCount(static_cast<std::int64_t>(hits->count())));
  const auto& selected = timeline_->selected();
  if (selected && hits->has(*selected)) {
    const auto number = static_cast<std::int64_t>(hits->numberOf(*selected));
    hit_number_->setText(tr("%1 of %2").arg(QString::fromStdString(showCount(number)), count));
  } else {
    hit_number_->setText(hits->count() == 0 ? tr("No event") : count);
  }
}

}  // namespace pitwall::gui
