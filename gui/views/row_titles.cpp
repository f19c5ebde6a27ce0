#include "gui/views/row_titles.h"

#include <algorithm>

namespace pitwall::gui {
namespace {

constexpr int kPinPx = 20;

// Rows nested below a track are right after it.
bool hasNested(const Timeline& timeline, std::size_t track) {
  return track + 1 < timeline.tracks.size() && timeline.tracks[track + 1].parent == track;
}

const std::string& titleOf(const Timeline& timeline, const Row& row) {
  if (row.is_process) return timeline.processes[row.index].title;
  return row.nested ? timeline.tracks[row.index].label : timeline.tracks[row.index].title;
}

int indentOf(const Row& row) { return row.is_process ? 4 : row.nested ? 30 : 14; }

}  // namespace

int titleWidth(const Timeline& timeline, const Row& row, const QFontMetrics& metrics) {
  const QString signs = QStringLiteral("\u25be ") + (row.pinned ? QStringLiteral("\u2605 ") : QString());
  return indentOf(row) + metrics.horizontalAdvance(signs + QString::fromStdString(titleOf(timeline, row))) +
         10;
}

QString elidedTitle(const std::string& title, std::size_t distinct_to, const QFontMetrics& metrics,
                    int width) {
  const QString whole = QString::fromStdString(title);
  if (metrics.horizontalAdvance(whole) <= width) return whole;
  const QChar dots(0x2026);
  const QString head = QString::fromStdString(title.substr(0, distinct_to));
  if (metrics.horizontalAdvance(head + dots) <= width)
    return metrics.elidedText(whole, Qt::ElideRight, width);
  // What distinguishes it stays, with as much before it as has room.
  const bool rest = head.size() < whole.size();
  return metrics.elidedText(head, Qt::ElideLeft, width - (rest ? metrics.horizontalAdvance(dots) : 0)) +
         (rest ? QString(dots) : QString());
}

QRect pinPlace(const SceneGeometry& g, const Row& row) {
  return {g.titles - kPinPx - 2, g.top() + row.y - g.scroll_y, kPinPx, std::min(row.height, kPinPx)};
}

std::pair<std::size_t, std::size_t> rowsInSight(const SceneGeometry& g, const SceneState& s) {
  const auto& rows = s.rows->rows();
  const int from = std::max(0, s.rows->rowAt(g.scroll_y));
  auto to = static_cast<std::size_t>(from);
  while (to < rows.size() && rows[to].y < g.scroll_y + g.height - g.top()) ++to;
  return {static_cast<std::size_t>(from), to};
}

void RowTitles::paint(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                      const QPalette& colors) {
  const int height = g.height - g.top();
  if (height <= 0 || g.titles <= 0) return;
  const Key key{s.timeline.get(),  s.rows->version(), g.titles,      height,
                g.scroll_y,        g.pixel_ratio,     s.focused_row, s.has_focus,
                colors.cacheKey(), painter.font()};
  if (!(key == key_)) {
    key_ = key;
    column_ = QImage(QSize(g.titles, height) * g.pixel_ratio, QImage::Format_RGB32);
    column_.setDevicePixelRatio(g.pixel_ratio);
    QPainter column(&column_);
    column.setFont(painter.font());
    column.translate(0, -g.top());
    drawColumn(column, g, s, colors);
  }
  painter.drawImage(QPointF(0, g.top()), column_);
  paintPin(painter, g, s, colors);
  painter.save();
  painter.setClipRect(g.titles, g.top(), g.laneWidth(), height);
  painter.setPen(colors.color(QPalette::Midlight));
  const auto [from, to] = rowsInSight(g, s);
  for (std::size_t i = from; i < to; ++i) {
    const Row& row = s.rows->rows()[i];
    const int y = g.top() + row.y - g.scroll_y;
    if (row.is_process)
      painter.fillRect(g.titles, y, g.laneWidth(), row.height, colors.color(QPalette::AlternateBase));
    if (s.rows->metrics().gap > 1)
      painter.drawLine(g.titles, y + row.height + 1, g.width, y + row.height + 1);
  }
  painter.restore();
}

// Only where the mouse is: it takes the end of the title.
void RowTitles::paintPin(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                         const QPalette& colors) {
  const auto& rows = s.rows->rows();
  if (s.hovered_row < 0 || static_cast<std::size_t>(s.hovered_row) >= rows.size()) return;
  const Row& row = rows[static_cast<std::size_t>(s.hovered_row)];
  if (row.is_process) return;
  const QRect place = pinPlace(g, row);
  painter.save();
  painter.setClipRect(0, g.top(), g.titles, g.height - g.top());
  painter.fillRect(place, colors.color(QPalette::Button));
  painter.setPen(colors.color(QPalette::ButtonText));
  painter.drawText(place, Qt::AlignCenter, row.pinned ? QStringLiteral("\u2605") : QStringLiteral("\u2606"));
  painter.restore();
}

void RowTitles::drawColumn(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                           const QPalette& colors) {
  painter.fillRect(0, g.top(), g.titles, g.height - g.top(), colors.color(QPalette::Base));
  const auto [from, to] = rowsInSight(g, s);
  const QFontMetrics metrics(painter.font());
  for (std::size_t i = from; i < to; ++i) {
    const Row& row = s.rows->rows()[i];
    const int y = g.top() + row.y - g.scroll_y;
    const bool focused = s.has_focus && i == s.focused_row;
    if (row.is_process) painter.fillRect(0, y, g.titles, row.height, colors.color(QPalette::AlternateBase));
    painter.setPen(colors.color(QPalette::WindowText));
    const TimelineTrack* track = row.is_process ? nullptr : &s.timeline->tracks[row.index];
    const std::string& title = titleOf(*s.timeline, row);
    const std::size_t distinct_to = track == nullptr || row.nested ? 0 : track->distinct_to;
    const bool opens = track == nullptr || track->lanes.size() > 1 || track->kind == TrackKind::counter ||
                       hasNested(*s.timeline, row.index);
    const QString sign =
        opens ? (row.open ? QStringLiteral("\u25be ") : QStringLiteral("\u25b8 ")) : QStringLiteral("  ");
    const QString before = (row.pinned ? QStringLiteral("\u2605 ") : QString()) + sign;
    const int indent = indentOf(row);
    const QRect place(indent, y, g.titles - indent - 6, std::min(row.height, 2 * metrics.height()));
    painter.drawText(
        place, Qt::AlignLeft | (row.height > 24 ? Qt::AlignTop : Qt::AlignVCenter),
        before + elidedTitle(title, distinct_to, metrics, place.width() - metrics.horizontalAdvance(before)));
    if (focused) {
      painter.setPen(colors.color(QPalette::Highlight));
      painter.drawRect(1, y, g.titles - 3, row.height - 1);
    }
    if (s.rows->metrics().gap > 1) {
      painter.setPen(colors.color(QPalette::Midlight));
      painter.drawLine(0, y + row.height + 1, g.titles, y + row.height + 1);
    }
  }
  painter.setPen(colors.color(QPalette::Mid));
  painter.drawLine(g.titles - 1, g.top(), g.titles - 1, g.height);
}

}  // namespace pitwall::gui
