// The legend below the timeline, of the rows and the stretch of time in view.
#include <algorithm>

#include "gui/views/event_colors.h"
#include "gui/views/legend_bar.h"
#include "gui/views/timeline_view.h"

namespace pitwall::gui {
namespace {

constexpr int kPauseMs = 60;  // after the last movement
constexpr std::size_t kMostEntries = 24;

}  // namespace

void TimelineView::makeLegend() {
  legend_ = new LegendBar(this);
  legend_->hide();
  legend_pause_.setSingleShot(true);
  legend_pause_.setInterval(kPauseMs);
  connect(&legend_pause_, &QTimer::timeout, this, &TimelineView::updateLegend);
  connect(legend_, &LegendBar::nameActivated, this, &TimelineView::nameActivated);
}

void TimelineView::setLegendShown(bool shown) {
  legend_wanted_ = shown;
  placeLegend();
  updateLegend();
}

void TimelineView::placeLegend() {
  const bool shown = legend_wanted_ && state_.timeline != nullptr;
  const int height = shown ? legend_->wantedHeight() : 0;
  if (viewportMargins().bottom() != height) setViewportMargins(0, 0, 0, height);
  const QRect rows = viewport()->geometry();
  legend_->setGeometry(rows.left(), rows.bottom() + 1, rows.width(), height);
  legend_->setVisible(shown);
}

void TimelineView::updateLegend() {
  legend_pause_.stop();
  if (!legend_wanted_ || !state_.timeline) return;
  const SceneGeometry g = geometryNow();
  std::vector<EventRef> lanes;
  const auto [from, to] = rowsInSight(g, state_);
  for (std::size_t i = from; i < to; ++i) {
    const Row& row = rows_.rows()[i];
    if (row.is_process) continue;
    const int most = std::min(row.lanes, static_cast<int>(state_.timeline->tracks[row.index].lanes.size()));
    for (int lane = 0; lane < most; ++lane) {
      const int y = g.top() + row.y - g.scroll_y + lane * rows_.metrics().lane;
      if (y + rows_.metrics().lane > g.top() && y < g.height)
        lanes.push_back({row.index, static_cast<std::size_t>(lane), 0});
    }
  }
  // What threads do has few colours; names follow.
  std::vector<LegendEntry> entries = statesInView();
  for (LegendEntry& entry : legendOf(*state_.timeline, lanes, state_.view, eventColoring(), kMostEntries))
    entries.push_back(std::move(entry));
  legend_->setEntries(std::move(entries));
}

}  // namespace pitwall::gui
