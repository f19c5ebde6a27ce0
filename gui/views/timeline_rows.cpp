// Rows of the timeline: which has the focus, their order, what is pinned, closed and hidden, and the mouse
// over their titles.
#include <QMouseEvent>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "gui/views/row_titles.h"
#include "gui/views/timeline_accessible.h"
#include "gui/views/timeline_view.h"

namespace pitwall::gui {
namespace {

constexpr int kLeastLane = 3, kMostLane = 40;

}  // namespace

void TimelineView::rowsChanged() {
  const SceneGeometry g = geometryNow();
  verticalScrollBar()->setRange(0, std::max(0, rows_.height() - (g.height - g.top())));
  verticalScrollBar()->setPageStep(std::max(1, g.height - g.top()));
  verticalScrollBar()->setSingleStep(rows_.metrics().lane * 3);
  if (state_.focused_row >= rows_.rows().size()) state_.focused_row = 0;
  viewport()->update();
  if (legend_wanted_) legend_pause_.start();
  emit viewChanged();
}

void TimelineView::revealRow(std::size_t row) {
  const Row& shown = rows_.rows()[row];
  const SceneGeometry g = geometryNow();
  const int room = g.height - g.top();
  if (shown.y < g.scroll_y) verticalScrollBar()->setValue(shown.y);
  if (shown.y + shown.height > g.scroll_y + room)
    verticalScrollBar()->setValue(std::min(shown.y, shown.y + shown.height - room));
}

std::vector<std::size_t> TimelineView::tracksShown() const {
  std::vector<std::size_t> tracks;
  for (const Row& row : rows_.rows()) {
    if (!row.is_process) tracks.push_back(row.index);
  }
  return tracks;
}

std::vector<std::size_t> TimelineView::tracksSelected() const {
  return state_.range && !state_.range->tracks.empty() ? state_.range->tracks : tracksShown();
}

int TimelineView::rowAtLanes(const QPointF& at) const {
  const SceneGeometry g = geometryNow();
  return at.y() < g.top() ? -1 : rows_.rowAt(static_cast<int>(at.y()) - g.top() + g.scroll_y);
}

// Those of the rows from a to b; a process stands for all of its rows.
std::vector<std::size_t> TimelineView::tracksBetween(int a, int b) const {
  std::vector<std::size_t> tracks;
  for (int i = std::min(a, b); i <= std::max(a, b); ++i) {
    const Row& row = rows_.rows()[static_cast<std::size_t>(i)];
    if (!row.is_process) tracks.push_back(row.index);
    for (std::size_t t = 0; row.is_process && t < state_.timeline->tracks.size(); ++t) {
      if (state_.timeline->tracks[t].process == row.index) tracks.push_back(t);
    }
  }
  std::sort(tracks.begin(), tracks.end());
  tracks.erase(std::unique(tracks.begin(), tracks.end()), tracks.end());
  return tracks;
}

void TimelineView::revealTracks(const std::vector<std::size_t>& tracks) {
  if (tracks.empty()) return;
  bool changed = false;
  for (const std::size_t track : tracks) {
    if (rows_.rowOfTrack(track) >= 0) continue;
    rows_.reveal(track);
    changed = true;
  }
  if (changed) rowsChanged();
  for (std::size_t i = tracks.size(); i-- > 0;) {
    if (const int row = rows_.rowOfTrack(tracks[i]); row >= 0) revealRow(static_cast<std::size_t>(row));
  }
}

void TimelineView::moveRow(int by) {
  const auto count = static_cast<int>(rows_.rows().size());
  if (count == 0) return;
  state_.focused_row =
      static_cast<std::size_t>(std::clamp(static_cast<int>(state_.focused_row) + by, 0, count - 1));
  revealRow(state_.focused_row);
  viewport()->update();
  announceSelection(*this);
}

// A page of rows; the focus moves with it.
void TimelineView::pageRows(int by) {
  if (rows_.rows().empty()) return;
  QScrollBar* bar = verticalScrollBar();
  const Row& focused = rows_.rows()[state_.focused_row];
  const int wanted = focused.y + by * bar->pageStep();
  bar->setValue(bar->value() + by * bar->pageStep());
  const int row = wanted < 0 ? 0 : rows_.rowAt(wanted);
  const auto last = static_cast<int>(rows_.rows().size()) - 1;
  moveRow((row < 0 ? last : row) - static_cast<int>(state_.focused_row));
}

void TimelineView::togglePinned() {
  if (state_.focused_row >= rows_.rows().size() || rows_.rows()[state_.focused_row].is_process) return;
  const std::size_t track = rows_.rows()[state_.focused_row].index;
  rows_.togglePinned(track);
  state_.focused_row = static_cast<std::size_t>(std::max(0, rows_.rowOfTrack(track)));
  rowsChanged();
}

void TimelineView::toggleOpen() {
  if (state_.focused_row >= rows_.rows().size()) return;
  rows_.toggleOpen(Row(rows_.rows()[state_.focused_row]));
  rowsChanged();
}

void TimelineView::hideRow() {
  if (state_.focused_row >= rows_.rows().size() || rows_.rows()[state_.focused_row].is_process) return;
  rows_.setHidden(rows_.rows()[state_.focused_row].index, true);
  rowsChanged();
}

void TimelineView::showHiddenRows() {
  rows_.showHidden();
  rowsChanged();
}

void TimelineView::reorder(int by) {
  if (state_.focused_row >= rows_.rows().size() || rows_.rows()[state_.focused_row].is_process) return;
  const std::size_t track = rows_.rows()[state_.focused_row].index;
  // Skips rows that are not shown.
  const int before = rows_.rowOfTrack(track);
  while (rows_.rowOfTrack(track) == before) {
    if (!rows_.move(track, by)) break;
  }
  state_.focused_row = static_cast<std::size_t>(std::max(0, rows_.rowOfTrack(track)));
  rowsChanged();
}

void TimelineView::setAllOpen(bool open) {
  rows_.setAllOpen(open);
  rowsChanged();
}

void TimelineView::setLaneHeight(int height) {
  RowMetrics metrics = rows_.metrics();
  metrics.lane = std::clamp(height, kLeastLane, kMostLane);
  metrics.gap = metrics.lane < 8 ? 1 : 3;
  metrics.process = fontMetrics().height() + 6;
  metrics.counter = std::max(metrics.lane * 2, fontMetrics().height() * 2 + 8);
  rows_.setMetrics(metrics);
  rowsChanged();
}

void TimelineView::setRowFilter(const QString& words) {
  rows_.setFilter(words.toStdString());
  rowsChanged();
}

void TimelineView::focusTrack(std::size_t track) {
  if (rows_.rowOfTrack(track) < 0) {
    rows_.reveal(track);
    rowsChanged();
  }
  const int row = rows_.rowOfTrack(track);
  if (row < 0) return;
  state_.focused_row = static_cast<std::size_t>(row);
  revealRow(state_.focused_row);
  viewport()->update();
}

void TimelineView::restoreRows(const RowsKept& kept, int lane_height) {
  rows_.restore(kept);
  if (lane_height > 0) setLaneHeight(lane_height);
  rowsChanged();
}

// --- the width of the titles ------------------------------------------------------------------------------

bool TimelineView::onTitlesEdge(const QPointF& at) const {
  return state_.timeline && std::abs(at.x() - geometryNow().titles) <= 2.5;
}

void TimelineView::setTitlesWidth(int width) {
  titles_width_ = width;
  viewport_.setWidth(geometryNow().laneWidth());
  changed();
}

void TimelineView::resizeTitles(int width) {
  setTitlesWidth(std::max(60, width));
  emit titlesResized(titles_width_);
}

void TimelineView::fitTitles() {
  if (!state_.timeline) return;
  int widest = 60;
  const auto [from, to] = rowsInSight(geometryNow(), state_);
  for (std::size_t i = from; i < to; ++i)
    widest = std::max(widest, titleWidth(*state_.timeline, rows_.rows()[i], fontMetrics()));
  resizeTitles(widest);
}

// --- the mouse over the titles ---------------------------------------------------------------------------

int TimelineView::rowAtTitle(const QPointF& at) const {
  const SceneGeometry g = geometryNow();
  if (!state_.timeline || at.x() >= g.titles || at.y() < g.top()) return -1;
  return rows_.rowAt(static_cast<int>(at.y()) - g.top() + g.scroll_y);
}

void TimelineView::pressOnTitles(const QPointF& at) {
  const int row = rowAtTitle(at);
  if (row < 0) return;
  state_.focused_row = static_cast<std::size_t>(row);
  drag_ = Drag::row;
  row_moved_ = false;
  viewport()->update();
}

// The row goes along once the mouse would still be on it, whatever the heights of both.
void TimelineView::dragRow(const QPointF& at) {
  const int y = static_cast<int>(at.y()) - geometryNow().top() + geometryNow().scroll_y;
  const int over = rows_.rowAt(y);
  const auto own = static_cast<int>(state_.focused_row);
  if (over < 0 || over == own || rows_.rows()[state_.focused_row].is_process) return;
  const Row row = rows_.rows()[state_.focused_row];
  const Row other = rows_.rows()[static_cast<std::size_t>(over)];
  row_moved_ = true;
  if (over > own && y >= row.y + other.height) reorder(1);
  if (over < own && y < other.y + row.height) reorder(-1);
}

void TimelineView::releaseOnTitles(const QPointF& at) {
  const int row = rowAtTitle(at);
  if (row_moved_ || row < 0 || row != static_cast<int>(state_.focused_row)) return;
  const Row& pressed = rows_.rows()[state_.focused_row];
  const bool on_pin = !pressed.is_process && pinPlace(geometryNow(), pressed).contains(at.toPoint());
  on_pin ? togglePinned() : toggleOpen();
  hoverTitles(at);
}

void TimelineView::hoverTitles(const QPointF& at) {
  const int row = rowAtTitle(at);
  if (row == state_.hovered_row) return;
  state_.hovered_row = row;
  viewport()->update();
}

QString TimelineView::titleTipAt(const QPointF& at) const {
  const int i = rowAtTitle(at);
  if (i < 0) return {};
  const Row& row = rows_.rows()[static_cast<std::size_t>(i)];
  if (row.is_process) return QString::fromStdString(state_.timeline->processes[row.index].title);
  if (pinPlace(geometryNow(), row).contains(at.toPoint()))
    return row.pinned ? tr("Unpin (P)") : tr("Pin to the top (P)");
  return QString::fromStdString(state_.timeline->tracks[row.index].title);
}

}  // namespace pitwall::gui
