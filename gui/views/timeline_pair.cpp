#include "gui/views/timeline_pair.h"

#include <QVBoxLayout>
#include <algorithm>
#include <utility>

namespace pitwall::gui {
namespace {

constexpr std::size_t kIterationsShown = 3;

}  // namespace

TimelinePair::TimelinePair(TimelineView* upper, TimelineView* lower, QObject* parent)
    : QObject(parent), upper_(upper), lower_(lower) {
  for (TimelineView* view : {upper, lower})
    view->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);  // both axes as wide
  connect(upper, &TimelineView::viewChanged, this, [this] { follow(upper_, lower_, offset_); });
  connect(lower, &TimelineView::viewChanged, this, [this] { follow(lower_, upper_, -offset_); });
}

QSplitter* TimelinePair::splitter(QLabel* upper_title, QLabel* lower_title, QWidget* below) const {
  auto* splitter = new QSplitter(Qt::Vertical);
  for (const auto& [view, title] : {std::pair(upper_, upper_title), std::pair(lower_, lower_title)}) {
    auto* half = new QWidget;
    auto* column = new QVBoxLayout(half);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    // A long path must not widen the window.
    title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    column->addWidget(title);
    column->addWidget(view, 1);
    splitter->addWidget(half);
  }
  splitter->addWidget(below);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 3);
  splitter->setStretchFactor(2, 2);
  splitter->setChildrenCollapsible(false);
  return splitter;
}

void TimelinePair::setOffset(TimeNs offset) {
  const auto &a = upper_->timeline(), &b = lower_->timeline();
  if (!a || !b) return;
  offset_ = offset;
  following_ = true;
  upper_->widenBounds(b->begin_ns - offset, b->end_ns - offset);
  lower_->widenBounds(a->begin_ns + offset, a->end_ns + offset);
  following_ = false;
}

void TimelinePair::showIteration(int iteration) {
  const auto& timeline = upper_->timeline();
  if (!timeline || !lower_->timeline()) return;
  const auto& marks = timeline->iterations;
  if (marks.size() < 2) return upper_->showAll();
  const auto first = std::min(static_cast<std::size_t>(std::max(0, iteration)), marks.size() - 1);
  const std::size_t last = std::min(marks.size() - 1, first + kIterationsShown);
  upper_->showTimes(marks[first].time_ns, last > first ? marks[last].time_ns : timeline->end_ns);
}

void TimelinePair::follow(TimelineView* moved, TimelineView* other, TimeNs offset) {
  if (following_ || !moved->timeline() || !other->timeline()) return;
  following_ = true;
  const View& view = moved->viewportModel().view();
  other->placeView(view.start_ns + static_cast<double>(offset), view.ns_per_px);
  following_ = false;
}

}  // namespace pitwall::gui
