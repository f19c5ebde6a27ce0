#include "gui/views/timeline_scene.h"

#include <algorithm>
#include <cmath>

#include "analyzer/units_text.h"
#include "gui/timeline/counter_text.h"
#include "gui/timeline/store_keys.h"
#include "gui/timeline/time_axis.h"
#include "gui/timeline/wide_events.h"
#include "gui/views/arrow_marks.h"
#include "gui/views/canvas_painter.h"
#include "gui/views/critical_lane.h"
#include "gui/views/cursor_marks.h"
#include "gui/views/event_colors.h"
#include "gui/views/memory_tags.h"
#include "gui/views/range_marks.h"

namespace pitwall::gui {
namespace {

constexpr int kLeastLabelPx = 40;
constexpr double kLeastIterationPx = 4;
constexpr double kLeastMarkPx = 40;  // between lines of iterations over the rows
constexpr std::size_t kMinimapTracks = 256;
const QColor kEvidenceColor(230, 159, 0);

}  // namespace

TimelineScene::TimelineScene(bool dark)
    : dark_(dark), palette_(dark ? &Palette::dark() : &Palette::light()), canvas_(*palette_) {}

void TimelineScene::setDark(bool dark) {
  dark_ = dark;
  palette_ = &eventColors(dark);
  canvas_.setPalette(*palette_);
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
  if (!s.message.isEmpty() || !s.timeline) {
    painter.fillRect(0, 0, g.width, g.height, QColor(palette_->background));
    painter.setPen(colors.color(QPalette::WindowText));
    painter.drawText(QRect(20, 20, g.width - 40, g.height - 40), Qt::AlignCenter | Qt::TextWordWrap,
                     s.message);
    return;
  }
  painter.save();
  painter.setClipRect(g.titles, g.top(), g.laneWidth(), g.height - g.top());
  paintLanes(painter, g, s);
  paintCounterTexts(painter, g, s, colors);
  paintLabels(painter, g, s);
  if (s.path_only && s.path) fadeAllButPath(painter, g, s, *palette_);
  paintMarks(painter, g, s, colors);
  paintCursorLines(painter, g, s, colors);
  painter.restore();
  titles_.paint(painter, g, s, colors);
  paintRuler(painter, g, s, colors);
  paintIterations(painter, g, s, colors);
  paintCriticalLane(painter, g, s, *palette_, colors);
  paintMinimap(painter, g, s, colors);
  paintCursorTimes(painter, g, s, colors);
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
    const QString label = QString::fromStdString(tick.label);
    if (x + 4 + painter.fontMetrics().horizontalAdvance(label) > g.width) continue;  // no half of a number
    painter.setPen(colors.color(QPalette::WindowText));
    painter.drawText(QRect(x + 4, g.minimap, 105, g.ruler), Qt::AlignLeft | Qt::AlignVCenter, label);
  }
  painter.restore();
  painter.setPen(colors.color(QPalette::WindowText));
  const QString span = QString::fromStdString(showDuration(whole * s.view.width_px));
  painter.drawText(QRect(6, g.minimap, g.titles - 12, g.ruler), Qt::AlignLeft | Qt::AlignVCenter,
                   "In view: " + span);
}

// Every other iteration shaded, each with its number where there is room. Of those too narrow to be
// distinguished apart one stands for all that begin in the same pixels.
void TimelineScene::paintIterations(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                                    const QPalette& colors) const {
  if (g.iterations == 0) return;
  const int y = g.minimap + g.ruler;
  painter.fillRect(0, y, g.width, g.iterations, colors.color(QPalette::Window));
  painter.setPen(colors.color(QPalette::WindowText));
  painter.drawText(QRect(6, y, g.titles - 12, g.iterations), Qt::AlignLeft | Qt::AlignVCenter, "Iterations");
  painter.save();
  painter.setClipRect(g.titles, y, g.laneWidth(), g.iterations);
  const auto& marks = s.timeline->iterations;
  const QFontMetrics metrics = painter.fontMetrics();
  auto mark = std::upper_bound(marks.begin(), marks.end(), static_cast<TimeNs>(s.view.start_ns),
                               [](TimeNs t, const IterationMark& m) { return t < m.time_ns; });
  if (mark != marks.begin()) --mark;
  while (mark != marks.end() && mark + 1 != marks.end() &&
         static_cast<double>(mark->time_ns) < s.view.endNs()) {
    const double x0 = s.view.xOf(static_cast<double>(mark->time_ns));
    const auto next = std::lower_bound(mark + 1, marks.end() - 1,
                                       static_cast<TimeNs>(s.view.timeAt(x0 + kLeastIterationPx)),
                                       [](const IterationMark& m, TimeNs t) { return m.time_ns < t; });
    const double x1 = s.view.xOf(static_cast<double>(next->time_ns));
    const QRectF place(g.titles + x0, y, x1 - x0, g.iterations);
    if ((mark - marks.begin()) % 2 == 1) painter.fillRect(place, QColor(128, 128, 128, 60));
    painter.drawLine(QPointF(place.left(), y + g.iterations / 2.0), QPointF(place.left(), y + g.iterations));
    // In the part that is in sight.
    const double left = std::max(x0, 0.0), right = std::min(x1, static_cast<double>(g.laneWidth()));
    const QString number = QString::number(mark->index);
    if (next == mark + 1 && right - left > metrics.horizontalAdvance(number) + 6)
      painter.drawText(QRectF(g.titles + left, y, right - left, g.iterations), Qt::AlignCenter, number);
    mark = next;
  }
  painter.restore();
}

// How many tracks are busy at each time. Of very many tracks some stand for all.
void TimelineScene::drawMinimap(const View& whole, int height, const Timeline& timeline) {
  const int width = whole.width_px;
  minimap_ = QImage(width, height, QImage::Format_RGB32);
  minimap_.fill(palette_->background);
  std::vector<int> busy(static_cast<std::size_t>(width), 0);
  std::vector<std::uint32_t> line(static_cast<std::size_t>(width));
  LaneRenderer renderer(*palette_);
  int most = 1;
  const std::size_t step = 1 + timeline.tracks.size() / kMinimapTracks;
  for (std::size_t t = 0; t < timeline.tracks.size(); t += step) {
    const TimelineTrack& track = timeline.tracks[t];
    if (track.lanes.empty()) continue;
    renderer.draw(track.lanes[0], track.pyramids[0], whole, line);
    for (std::size_t x = 0; x < line.size(); ++x) busy[x] += line[x] != palette_->background;
    ++most;
  }
  for (int x = 0; x < width; ++x) {
    const int count = busy[static_cast<std::size_t>(x)];
    const int filled = count * height / most + (count > 0 ? 1 : 0);
    for (int y = height - 1; y >= height - filled && y >= 0; --y)
      reinterpret_cast<QRgb*>(minimap_.scanLine(y))[x] = dark_ ? 0xff7aa2c8 : 0xff4f81b0;
  }
}

// The whole trace, with the view as a frame.
void TimelineScene::paintMinimap(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                                 const QPalette& colors) {
  painter.fillRect(0, 0, g.width, g.minimap, colors.color(QPalette::Window));
  const int width = g.laneWidth(), height = g.minimap - 6;
  if (width <= 0) return;
  const double begin = static_cast<double>(s.timeline->begin_ns),
               end = static_cast<double>(s.timeline->end_ns);
  const View whole{begin, std::max(1.0, (end - begin)) / width, width};
  if (minimap_of_ != s.timeline || minimap_.width() != width || minimap_.height() != height) {
    drawMinimap(whole, height, *s.timeline);
    minimap_of_ = s.timeline;
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

// Gives the canvas the positions of lanes when rows have changed.
void TimelineScene::takeRows(const SceneGeometry& g, const SceneState& s) {
  if (canvas_of_ == s.timeline && canvas_rows_ == s.rows->version() && canvas_ratio_ == g.pixel_ratio) return;
  canvas_of_ = s.timeline;
  canvas_rows_ = s.rows->version();
  canvas_ratio_ = g.pixel_ratio;
  const auto lane_height = static_cast<int>(s.rows->metrics().lane * g.pixel_ratio);
  std::vector<CanvasLane> lanes;
  for (const Row& row : s.rows->rows()) {
    if (row.is_process) continue;
    const TimelineTrack& track = s.timeline->tracks[row.index];
    const auto top = static_cast<std::int64_t>(row.y * g.pixel_ratio);
    const auto states_top = static_cast<std::int64_t>((row.y + row.height - row.states) * g.pixel_ratio);
    if (const TimelineTrack* chart = chartOf(*s.timeline, row))
      lanes.push_back(
          {top, static_cast<int>(states_top - top), nullptr, nullptr, &chart->counter, chart->memory.get()});
    for (int lane = 0; lane < row.lanes && lane < static_cast<int>(track.lanes.size()); ++lane) {
      const auto index = static_cast<std::size_t>(lane);
      lanes.push_back({top + lane * lane_height, std::max(1, lane_height - 1), &track.lanes[index],
                       &track.pyramids[index]});
    }
    if (row.states > 0)
      lanes.push_back({states_top, static_cast<int>(row.states * g.pixel_ratio), &track.states->lane,
                       &track.states->pyramid});
  }
  canvas_.setLanes(std::move(lanes));
}

void TimelineScene::paintLanes(QPainter& painter, const SceneGeometry& g, const SceneState& s) {
  takeRows(g, s);
  const int width = static_cast<int>(g.laneWidth() * g.pixel_ratio);
  const int height = static_cast<int>((g.height - g.top()) * g.pixel_ratio);
  if (width <= 0 || height <= 0) return;
  View view = s.view;
  view.ns_per_px /= g.pixel_ratio;
  const PixelRange pixels = pixelsOf(view);
  canvas_.resize(width, height);
  canvas_.show(view.ns_per_px, pixels.first, static_cast<std::int64_t>(g.scroll_y * g.pixel_ratio));
  paintCanvas(painter, canvas_, QPointF(g.titles, g.top()), g.pixel_ratio);
}

void TimelineScene::paintLabels(QPainter& painter, const SceneGeometry& g, const SceneState& s) {
  const QFontMetrics metrics(painter.font());
  const int lane_height = s.rows->metrics().lane;
  if (lane_height < metrics.ascent()) return;
  labels_.use(painter.font(), s.timeline.get());
  const auto from_ns = static_cast<TimeNs>(s.view.start_ns), to_ns = static_cast<TimeNs>(s.view.endNs());
  const auto least_ns = std::max<TimeNs>(1, static_cast<TimeNs>(s.view.ns_per_px * kLeastLabelPx));
  std::uint32_t pen = 0;
  const auto [from, to] = rowsInSight(g, s);
  for (std::size_t i = from; i < to; ++i) {
    const Row& row = s.rows->rows()[i];
    if (row.is_process) continue;
    const TimelineTrack& track = s.timeline->tracks[row.index];
    for (int l = 0; l < row.lanes && l < static_cast<int>(track.lanes.size()); ++l) {
      const Lane& lane = track.lanes[static_cast<std::size_t>(l)];
      const double y =
          g.top() + row.y - g.scroll_y + l * lane_height + (lane_height - 1 - metrics.height()) / 2.0;
      if (y + lane_height < g.top() || y > g.height) continue;
      wideEvents(lane, track.pyramids[static_cast<std::size_t>(l)], from_ns, to_ns, least_ns, wide_);
      for (const std::size_t e : wide_) {
        const double x0 = std::max(0.0, s.view.xOf(static_cast<double>(lane.startNs(e))));
        const double x1 = std::min(double(g.laneWidth()), s.view.xOf(static_cast<double>(lane.endNs(e))));
        if (x1 - x0 < kLeastLabelPx) continue;
        const std::uint32_t color = textOn(palette_->color[lane.color(e)]);
        if (color != pen) painter.setPen(QColor(color));
        pen = color;
        const std::uint32_t name = labelOf(*s.timeline, {row.index, static_cast<std::size_t>(l), e});
        const QStaticText& label =
            labels_.label(name, s.timeline->label(name), static_cast<int>(x1 - x0) - 6);
        painter.drawStaticText(QPointF(g.titles + std::floor(x0) + 3, y), label);
      }
    }
  }
}

void TimelineScene::paintCounterTexts(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                                      const QPalette& colors) const {
  const auto [from, to] = rowsInSight(g, s);
  for (std::size_t i = from; i < to; ++i) {
    const Row& row = s.rows->rows()[i];
    const TimelineTrack* chart = chartOf(*s.timeline, row);
    if (chart == nullptr || row.height < 24) continue;
    const QString most =
        "up to " + QString::fromStdString(showCounter(chart->counter.greatest(), chart->unit));
    const QFontMetrics metrics = painter.fontMetrics();
    const QRect place(g.titles + 2, g.top() + row.y - g.scroll_y, metrics.horizontalAdvance(most) + 6,
                      metrics.height());
    QColor behind(palette_->background);  // the chart continues below it and does not strike it out
    behind.setAlpha(215);
    painter.fillRect(place, behind);
    painter.setPen(colors.color(QPalette::WindowText));
    painter.drawText(place, Qt::AlignCenter, most);
    if (chart->memory) paintMemoryTags(painter, place, g.width, *chart->memory, *palette_);
  }
}

// Iterations, losses, the selected range, the selected event, search hits and arrows.
void TimelineScene::paintMarks(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                               const QPalette& colors) const {
  if (s.grid) {
    painter.setPen(QColor(128, 128, 128, 90));
    for (const Tick& tick : ticksOf(s.view, 110)) {
      const double x = g.titles + std::floor(tick.x);
      painter.drawLine(QPointF(x, g.top()), QPointF(x, g.height));
    }
  }
  const auto& marks = s.timeline->iterations;
  painter.setPen(QPen(QColor(128, 128, 128, 110), 1, Qt::DashLine));
  // None where they are close together: they would hide the events.
  const auto span = marks.empty() ? 0.0 : static_cast<double>(marks.back().time_ns - marks.front().time_ns);
  const double apart_px = span / std::max(1.0, static_cast<double>(marks.size()) - 1) / s.view.ns_per_px;
  double next_ns = apart_px < kLeastMarkPx ? s.view.endNs() : s.view.start_ns;
  while (next_ns < s.view.endNs()) {
    const auto mark = std::lower_bound(marks.begin(), marks.end(), static_cast<TimeNs>(std::ceil(next_ns)),
                                       [](const IterationMark& m, TimeNs t) { return m.time_ns < t; });
    if (mark == marks.end() || static_cast<double>(mark->time_ns) >= s.view.endNs()) break;
    const double x = s.view.xOf(static_cast<double>(mark->time_ns));
    painter.drawLine(QPointF(g.titles + x, g.top()), QPointF(g.titles + x, g.height));
    next_ns = static_cast<double>(mark->time_ns) + std::max(1.0, 8 * s.view.ns_per_px);
  }
  for (const Loss& loss : s.timeline->losses) {
    const double x0 = s.view.xOf(static_cast<double>(loss.from_ns)),
                 x1 = s.view.xOf(static_cast<double>(loss.to_ns));
    if (x1 < 0 || x0 > g.laneWidth()) continue;
    painter.fillRect(QRectF(g.titles + x0, g.top(), std::max(1.0, x1 - x0), g.height),
                     QBrush(QColor(213, 94, 0, 70), Qt::BDiagPattern));
  }
  if (s.range) paintRange(painter, g, s, *s.range, RangeLook::selected, colors.color(QPalette::Highlight));
  if (s.marked) paintRange(painter, g, s, *s.marked, RangeLook::evidence, kEvidenceColor);
  const QColor ink = dark_ ? Qt::white : Qt::black;
  paintHits(painter, g, s, kEvidenceColor);
  painter.setPen(QPen(kEvidenceColor, 2));
  for (const EventRef& hit : s.highlighted) {
    const QRectF rect = rectOf(hit, g, s);
    if (!rect.isEmpty()) painter.drawRect(rect.adjusted(-1, 0, 1, 0));
  }
  paintArrows(painter, g, s, ink);
  if (s.selected) {
    const QRectF rect = rectOf(*s.selected, g, s);
    painter.setPen(QPen(ink, 2));
    if (!rect.isEmpty()) painter.drawRect(rect.adjusted(-1, 0, 1, 0));
  }
}

}  // namespace pitwall::gui
