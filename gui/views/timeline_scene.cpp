#include "gui/views/timeline_scene.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "analyzer/units_text.h"
#include "gui/timeline/time_axis.h"

namespace pitwall::gui {
namespace {

constexpr int kLeastLabelPx = 40;

// Rows that are at least partly in sight, as [first, last).
std::pair<std::size_t, std::size_t> rowsInSight(const SceneGeometry& g, const SceneState& s) {
  const auto& rows = s.rows->rows();
  const int from = std::max(0, s.rows->rowAt(g.scroll_y));
  auto to = static_cast<std::size_t>(from);
  while (to < rows.size() && rows[to].y < g.scroll_y + g.height - g.top()) ++to;
  return {static_cast<std::size_t>(from), to};
}

QColor textOn(std::uint32_t color) {
  const QColor c(color);
  return 0.299 * c.red() + 0.587 * c.green() + 0.114 * c.blue() > 140 ? Qt::black : Qt::white;
}

}  // namespace

TimelineScene::TimelineScene(bool dark)
    : dark_(dark), palette_(dark ? &Palette::dark() : &Palette::light()), renderer_(*palette_) {}

void TimelineScene::setDark(bool dark) {
  dark_ = dark;
  palette_ = dark ? &Palette::dark() : &Palette::light();
  renderer_ = LaneRenderer(*palette_);
  minimap_of_ = nullptr;
}

QRectF TimelineScene::rectOf(const EventRef& event, const SceneGeometry& g, const SceneState& s) {
  const int at = s.rows->rowOfTrack(event.track);
  if (at < 0) return {};
  const Row& row = s.rows->rows()[static_cast<std::size_t>(at)];
  if (static_cast<int>(event.lane) >= row.lanes) return {};
  const Lane& lane = s.timeline->tracks[event.track].lanes[event.lane];
  const double x0 = s.view.xOf(static_cast<double>(lane.startNs(event.index)));
  const double x1 = s.view.xOf(static_cast<double>(lane.endNs(event.index)));
  const int height = s.rows->metrics().lane;
  return {g.titles + x0,
          static_cast<double>(g.top() + row.y - g.scroll_y + static_cast<int>(event.lane) * height),
          std::max(1.0, x1 - x0), height - 1.0};
}

void TimelineScene::paint(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                          const QPalette& colors) {
  painter.fillRect(0, 0, g.width, g.height, QColor(palette_->background));
  if (!s.message.isEmpty() || !s.timeline) {
    painter.setPen(colors.color(QPalette::WindowText));
    painter.drawText(QRect(20, 20, g.width - 40, g.height - 40), Qt::AlignCenter | Qt::TextWordWrap,
                     s.message);
    return;
  }
  painter.save();
  painter.setClipRect(g.titles, g.top(), g.laneWidth(), g.height - g.top());
  paintLanes(painter, g, s);
  paintCounters(painter, g, s, colors);
  paintLabels(painter, g, s);
  paintMarks(painter, g, s, colors);
  painter.restore();
  paintTitles(painter, g, s, colors);
  paintRuler(painter, g, s, colors);
  paintMinimap(painter, g, s, colors);
}

void TimelineScene::paintRuler(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                               const QPalette& colors) const {
  painter.fillRect(0, g.minimap, g.width, g.ruler, colors.color(QPalette::Window));
  painter.save();
  painter.setClipRect(g.titles, g.minimap, g.laneWidth(), g.ruler);
  const double whole = s.view.ns_per_px;
  for (const Tick& tick : ticksOf(s.view, 110)) {
    const int x = g.titles + static_cast<int>(tick.x);
    painter.setPen(colors.color(QPalette::Mid));
    painter.drawLine(x, g.minimap + g.ruler - 6, x, g.minimap + g.ruler - 1);
    painter.setPen(colors.color(QPalette::WindowText));
    painter.drawText(QRect(x + 4, g.minimap, 105, g.ruler), Qt::AlignLeft | Qt::AlignVCenter,
                     QString::fromStdString(tick.label));
  }
  painter.restore();
  painter.setPen(colors.color(QPalette::WindowText));
  const QString span = QString::fromStdString(showDuration(whole * s.view.width_px));
  painter.drawText(QRect(6, g.minimap, g.titles - 12, g.ruler), Qt::AlignLeft | Qt::AlignVCenter,
                   "In view: " + span);
}

// How busy the whole trace is, with the view as a frame.
void TimelineScene::paintMinimap(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                                 const QPalette& colors) {
  painter.fillRect(0, 0, g.width, g.minimap, colors.color(QPalette::Window));
  const int width = g.laneWidth(), height = g.minimap - 6;
  if (width <= 0) return;
  const double begin = static_cast<double>(s.timeline->begin_ns),
               end = static_cast<double>(s.timeline->end_ns);
  const View whole{begin, std::max(1.0, (end - begin)) / width, width};
  if (minimap_of_ != s.timeline.get() || minimap_.width() != width) {
    minimap_ = QImage(width, height, QImage::Format_RGB32);
    minimap_.fill(palette_->background);
    std::vector<int> busy(static_cast<std::size_t>(width), 0);
    std::vector<std::uint32_t> line(static_cast<std::size_t>(width));
    std::size_t most = 1;
    for (const TimelineTrack& track : s.timeline->tracks) {
      if (track.lanes.empty()) continue;
      renderer_.draw(track.lanes[0], track.pyramids[0], whole, line);
      for (std::size_t x = 0; x < line.size(); ++x) busy[x] += line[x] != palette_->background;
      ++most;
    }
    for (int x = 0; x < width; ++x) {
      const int filled = busy[static_cast<std::size_t>(x)] * height / static_cast<int>(most);
      for (int y = height - 1; y >= height - filled - (busy[static_cast<std::size_t>(x)] > 0) && y >= 0; --y)
        reinterpret_cast<QRgb*>(minimap_.scanLine(y))[x] = dark_ ? 0xff7aa2c8 : 0xff4f81b0;
    }
    minimap_of_ = s.timeline.get();
  }
  painter.drawImage(g.titles, 3, minimap_);
  const double x0 = std::clamp(whole.xOf(s.view.start_ns), 0.0, double(width));
  const double x1 = std::clamp(whole.xOf(s.view.endNs()), 0.0, double(width));
  painter.fillRect(QRectF(g.titles, 3, x0, height), QColor(128, 128, 128, 90));
  painter.fillRect(QRectF(g.titles + x1, 3, width - x1, height), QColor(128, 128, 128, 90));
  painter.setPen(colors.color(QPalette::Highlight));
  painter.drawRect(QRectF(g.titles + x0, 3, std::max(2.0, x1 - x0), height - 1));
  painter.setPen(colors.color(QPalette::WindowText));
  painter.drawText(QRect(6, 0, g.titles - 12, g.minimap), Qt::AlignLeft | Qt::AlignVCenter,
                   "Whole: " + QString::fromStdString(showDuration(end - begin)));
}

void TimelineScene::paintTitles(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                                const QPalette& colors) const {
  painter.save();
  painter.setClipRect(0, g.top(), g.width, g.height - g.top());
  painter.fillRect(0, g.top(), g.titles, g.height - g.top(), colors.color(QPalette::Base));
  const auto [from, to] = rowsInSight(g, s);
  const QFontMetrics metrics(painter.font());
  for (std::size_t i = from; i < to; ++i) {
    const Row& row = s.rows->rows()[i];
    const int y = g.top() + row.y - g.scroll_y;
    const int width = row.is_process ? g.width : g.titles;
    const bool focused = s.has_focus && i == s.focused_row;
    if (row.is_process) painter.fillRect(0, y, width, row.height, colors.color(QPalette::AlternateBase));
    painter.setPen(colors.color(QPalette::WindowText));
    const TimelineTrack* track = row.is_process ? nullptr : &s.timeline->tracks[row.index];
    const std::string& title = track == nullptr ? s.timeline->processes[row.index].title : track->title;
    const bool opens = track == nullptr || track->lanes.size() > 1 || track->kind == TrackKind::counter;
    const QString sign =
        opens ? (row.open ? QStringLiteral("\u25be ") : QStringLiteral("\u25b8 ")) : QStringLiteral("  ");
    const QString text =
        (row.pinned ? QStringLiteral("\u2605 ") : QString()) + sign + QString::fromStdString(title);
    const int indent = row.is_process ? 4 : 14;
    const QRect place(indent, y, g.titles - indent - 6, std::min(row.height, 2 * metrics.height()));
    painter.drawText(place, Qt::AlignLeft | (row.height > 24 ? Qt::AlignTop : Qt::AlignVCenter),
                     metrics.elidedText(text, Qt::ElideMiddle, place.width()));
    if (focused) {
      painter.setPen(colors.color(QPalette::Highlight));
      painter.drawRect(1, y, g.titles - 3, row.height - 1);
    }
    painter.setPen(colors.color(QPalette::Midlight));
    painter.drawLine(0, y + row.height + 1, g.width, y + row.height + 1);
  }
  painter.setPen(colors.color(QPalette::Mid));
  painter.drawLine(g.titles - 1, g.top(), g.titles - 1, g.height);
  painter.restore();
}

void TimelineScene::paintLanes(QPainter& painter, const SceneGeometry& g, const SceneState& s) {
  const int width = static_cast<int>(g.laneWidth() * g.pixel_ratio);
  const int height = static_cast<int>((g.height - g.top()) * g.pixel_ratio);
  if (width <= 0 || height <= 0) return;
  if (lanes_.width() != width || lanes_.height() != height)
    lanes_ = QImage(width, height, QImage::Format_RGB32);
  lanes_.fill(palette_->background);
  line_.resize(static_cast<std::size_t>(width));
  const auto [from, to] = rowsInSight(g, s);
  for (std::size_t i = from; i < to; ++i) {
    const Row& row = s.rows->rows()[i];
    if (!row.is_process) drawLaneRow(row, g, s, static_cast<int>((row.y - g.scroll_y) * g.pixel_ratio));
  }
  lanes_.setDevicePixelRatio(g.pixel_ratio);
  painter.drawImage(QPointF(g.titles, g.top()), lanes_);
}

void TimelineScene::drawLaneRow(const Row& row, const SceneGeometry& g, const SceneState& s, int scaled_top) {
  const TimelineTrack& track = s.timeline->tracks[row.index];
  View view = s.view;
  view.ns_per_px /= g.pixel_ratio;
  view.width_px = lanes_.width();
  const int lane_height = static_cast<int>(s.rows->metrics().lane * g.pixel_ratio);
  for (int lane = 0; lane < row.lanes && lane < static_cast<int>(track.lanes.size()); ++lane) {
    const int top = scaled_top + lane * lane_height;
    const int first = std::max(0, top), last = std::min(lanes_.height(), top + lane_height - 1);
    if (first >= last) continue;
    const auto index = static_cast<std::size_t>(lane);
    renderer_.draw(track.lanes[index], track.pyramids[index], view, line_);
    for (int y = first; y < last; ++y)
      std::memcpy(lanes_.scanLine(y), line_.data(), line_.size() * sizeof(line_[0]));
  }
}

void TimelineScene::paintLabels(QPainter& painter, const SceneGeometry& g, const SceneState& s) const {
  const QFontMetrics metrics(painter.font());
  const int lane_height = s.rows->metrics().lane;
  if (lane_height < metrics.ascent()) return;
  const auto least_ns = static_cast<TimeNs>(s.view.ns_per_px * kLeastLabelPx);
  const auto [from, to] = rowsInSight(g, s);
  for (std::size_t i = from; i < to; ++i) {
    const Row& row = s.rows->rows()[i];
    if (row.is_process) continue;
    const TimelineTrack& track = s.timeline->tracks[row.index];
    for (int l = 0; l < row.lanes && l < static_cast<int>(track.lanes.size()); ++l) {
      const Lane& lane = track.lanes[static_cast<std::size_t>(l)];
      const int y = g.top() + row.y - g.scroll_y + l * lane_height;
      // Only events wide enough can carry a label: hop from one to the next at least as far as it is wide.
      double at = s.view.start_ns;
      while (at < s.view.endNs()) {
        const std::size_t e = lane.firstReaching(static_cast<TimeNs>(at));
        if (e >= lane.size() || static_cast<double>(lane.startNs(e)) >= s.view.endNs()) break;
        at = std::max(static_cast<double>(lane.endNs(e)), at + s.view.ns_per_px * 4);
        if (lane.durNs(e) < least_ns) continue;
        const double x0 = std::max(0.0, s.view.xOf(static_cast<double>(lane.startNs(e))));
        const double x1 = std::min(double(g.laneWidth()), s.view.xOf(static_cast<double>(lane.endNs(e))));
        if (x1 - x0 < kLeastLabelPx) continue;
        painter.setPen(textOn(palette_->color[lane.color(e)]));
        const int width = static_cast<int>(x1 - x0) - 6;
        painter.drawText(QRectF(g.titles + x0 + 3, y, width, lane_height - 1),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(QString::fromStdString(s.timeline->name(lane.name(e))),
                                            Qt::ElideRight, width));
      }
    }
  }
}

void TimelineScene::paintCounters(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                                  const QPalette& colors) const {
  const auto [from, to] = rowsInSight(g, s);
  for (std::size_t i = from; i < to; ++i) {
    const Row& row = s.rows->rows()[i];
    if (row.is_process || s.timeline->tracks[row.index].kind != TrackKind::counter) continue;
    const CounterSeries& counter = s.timeline->tracks[row.index].counter;
    if (counter.size() == 0) continue;
    const double floor = std::min(0.0, counter.least());
    const double scale = (row.height - 2) / std::max(1e-300, counter.greatest() - floor);
    const double bottom = g.top() + row.y - g.scroll_y + row.height - 1;
    const QColor fill(dark_ ? 0x3f6f9f : 0x9cc3e6), edge(dark_ ? 0x8fc1f0 : 0x2a6fae);
    for (int x = 0; x < g.laneWidth(); ++x) {
      const CounterRange range = counter.range(static_cast<TimeNs>(s.view.timeAt(x)),
                                               static_cast<TimeNs>(std::ceil(s.view.timeAt(x + 1))));
      if (range.empty) continue;
      const double low = (range.least - floor) * scale, high = (range.greatest - floor) * scale;
      painter.fillRect(QRectF(g.titles + x, bottom - high, 1, high), fill);
      painter.fillRect(QRectF(g.titles + x, bottom - high, 1, std::max(1.0, high - low)), edge);
    }
    if (row.height < 24) continue;
    painter.setPen(colors.color(QPalette::WindowText));
    const std::string& unit = s.timeline->tracks[row.index].unit;
    const std::string most =
        unit == "bytes" ? showBytes(counter.greatest()) : showReal(counter.greatest()) + " " + unit;
    painter.drawText(QRectF(g.titles + 4, bottom - row.height + 1, 300, 16),
                     "up to " + QString::fromStdString(most));
  }
}

// Iterations, losses, the selected range, the selected event, search hits and arrows.
void TimelineScene::paintMarks(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                               const QPalette& colors) const {
  const auto& marks = s.timeline->iterations;
  painter.setPen(QPen(QColor(128, 128, 128, 110), 1, Qt::DashLine));
  double last_x = -1e9;
  auto mark = std::lower_bound(marks.begin(), marks.end(), static_cast<TimeNs>(s.view.start_ns),
                               [](const IterationMark& m, TimeNs t) { return m.time_ns < t; });
  for (; mark != marks.end() && static_cast<double>(mark->time_ns) < s.view.endNs(); ++mark) {
    const double x = s.view.xOf(static_cast<double>(mark->time_ns));
    if (x - last_x < 8) continue;
    last_x = x;
    painter.drawLine(QPointF(g.titles + x, g.top()), QPointF(g.titles + x, g.height));
  }
  for (const Loss& loss : s.timeline->losses) {
    const double x0 = s.view.xOf(static_cast<double>(loss.from_ns)),
                 x1 = s.view.xOf(static_cast<double>(loss.to_ns));
    painter.fillRect(QRectF(g.titles + x0, g.top(), std::max(1.0, x1 - x0), g.height),
                     QBrush(QColor(213, 94, 0, 70), Qt::BDiagPattern));
  }
  if (s.range) {
    const double x0 = s.view.xOf(static_cast<double>(s.range->from)),
                 x1 = s.view.xOf(static_cast<double>(s.range->to));
    QColor shade = colors.color(QPalette::Highlight);
    shade.setAlpha(50);
    painter.fillRect(QRectF(g.titles + x0, g.top(), x1 - x0, g.height), shade);
    painter.setPen(colors.color(QPalette::Highlight));
    painter.drawLine(QPointF(g.titles + x0, g.top()), QPointF(g.titles + x0, g.height));
    painter.drawLine(QPointF(g.titles + x1, g.top()), QPointF(g.titles + x1, g.height));
  }
  const QColor ink = dark_ ? Qt::white : Qt::black;
  painter.setPen(QPen(QColor(230, 159, 0), 2));
  for (const EventRef& hit : s.highlighted) {
    const QRectF rect = rectOf(hit, g, s);
    if (!rect.isEmpty()) painter.drawRect(rect.adjusted(-1, 0, 1, 0));
  }
  painter.setPen(QPen(ink, 1));
  painter.setRenderHint(QPainter::Antialiasing, true);
  for (const auto& [source, target] : s.arrows) {
    const QRectF a = rectOf(source, g, s), b = rectOf(target, g, s);
    if (a.isEmpty() || b.isEmpty()) continue;
    QPainterPath path(QPointF(a.right(), a.center().y()));
    const double bend = std::max(20.0, std::abs(b.left() - a.right()) / 2);
    path.cubicTo(a.right() + bend, a.center().y(), b.left() - bend, b.center().y(), b.left(), b.center().y());
    painter.drawPath(path);
    painter.drawEllipse(QPointF(b.left(), b.center().y()), 2.5, 2.5);
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
  if (s.selected) {
    const QRectF rect = rectOf(*s.selected, g, s);
    painter.setPen(QPen(ink, 2));
    if (!rect.isEmpty()) painter.drawRect(rect.adjusted(-1, 0, 1, 0));
  }
}

}  // namespace pitwall::gui
