#include "gui/views/critical_lane.h"

#include <algorithm>

#include "analyzer/units_text.h"
#include "gui/timeline/store_keys.h"

namespace pitwall::gui {
namespace {

constexpr int kFadedAlpha = 205;
constexpr double kLeastTextPx = 30;

void paintStep(QPainter& painter, const QRectF& box, const CriticalStep& step, const SceneState& s,
               const Palette& events, const QPalette& colors) {
  if (!step.event) {
    painter.fillRect(box, QBrush(colors.color(QPalette::Mid), Qt::BDiagPattern));
    return;
  }
  const Lane& lane = s.timeline->tracks[step.event->track].lanes[step.event->lane];
  const std::uint32_t color = events.color[lane.color(step.event->index)];
  painter.fillRect(box, QColor::fromRgb(color));
  if (box.width() < kLeastTextPx) return;
  painter.setPen(QColor::fromRgb(textOn(color)));
  const QString name = QString::fromStdString(s.timeline->label(labelOf(*s.timeline, *step.event)));
  const QRectF room = box.adjusted(3, 0, -3, 0);
  painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(name, Qt::ElideRight, static_cast<int>(room.width())));
}

}  // namespace

bool inCriticalLane(const SceneGeometry& g, double y) {
  return g.path > 0 && y >= g.top() - g.path && y < g.top();
}

QString describeStep(const CriticalStep& step) {
  const QString dur = QString::fromStdString(showDuration(static_cast<double>(step.to - step.from)));
  const QString part = QString::fromStdString(step.part);
  return step.event ? QString("%1: %2, %3").arg(part, QString::fromStdString(step.title), dur)
                    : QString("%1, %2").arg(part, dur);
}

QString describePlace(const CriticalSteps& path, const EventRef& event) {
  const auto first = path.stepOf(event);
  if (!first) return {};
  TimeNs on_path = 0;
  for (const CriticalStep& step : path.steps) on_path += step.event == event ? step.to - step.from : 0;
  QString text = QString("step %1 of %2, %3 of it")
                     .arg(*first + 1)
                     .arg(path.steps.size())
                     .arg(QString::fromStdString(showDuration(static_cast<double>(on_path))));
  if (*first > 0 && !path.steps[*first - 1].event) text += ", after " + describeStep(path.steps[*first - 1]);
  return text;
}

void paintCriticalLane(QPainter& painter, const SceneGeometry& g, const SceneState& s, const Palette& events,
                       const QPalette& colors) {
  if (g.path == 0 || !s.path) return;
  const int y = g.top() - g.path;
  painter.fillRect(0, y, g.width, g.path, colors.color(QPalette::Window));
  painter.setPen(colors.color(QPalette::WindowText));
  painter.drawText(QRect(6, y, g.titles - 12, g.path), Qt::AlignLeft | Qt::AlignVCenter, "Critical path");
  painter.save();
  painter.setClipRect(g.titles, y, g.laneWidth(), g.path);
  const auto& steps = s.path->steps;
  auto step = std::ranges::upper_bound(steps, static_cast<TimeNs>(s.view.start_ns), {}, &CriticalStep::to);
  while (step != steps.end() && static_cast<double>(step->from) < s.view.endNs()) {
    const double x0 = std::max(-4.0, s.view.xOf(static_cast<double>(step->from)));
    // Of what begins in one pixel the longest step stands for all.
    const auto next = std::ranges::lower_bound(
        step + 1, steps.end(), static_cast<TimeNs>(s.view.timeAt(x0 + 1)), {}, &CriticalStep::from);
    const auto longest = std::max_element(
        step, next, [](const auto& a, const auto& b) { return a.to - a.from < b.to - b.from; });
    const double x1 = std::min(g.laneWidth() + 4.0, s.view.xOf(static_cast<double>((next - 1)->to)));
    paintStep(painter, QRectF(g.titles + x0, y + 2, std::max(1.0, x1 - x0), g.path - 4), *longest, s, events,
              colors);
    step = next;
  }
  painter.restore();
}

void fadeAllButPath(QPainter& painter, const SceneGeometry& g, const SceneState& s, const Palette& events) {
  QColor veil = QColor::fromRgb(events.background);
  veil.setAlpha(kFadedAlpha);
  const auto [from, to] = rowsInSight(g, s);
  const int height = s.rows->metrics().lane;
  for (std::size_t r = from; r < to; ++r) {
    const Row& row = s.rows->rows()[r];
    if (row.is_process) continue;
    const auto& lanes = s.timeline->tracks[row.index].lanes;
    for (std::size_t l = 0; l < lanes.size() && static_cast<int>(l) < row.lanes; ++l) {
      const double y = g.top() + row.y - g.scroll_y + static_cast<int>(l) * height;
      if (y + height <= g.top() || y >= g.height) continue;
      const auto& on_path = s.path->ofLane(row.index, l);
      double x = 0;  // all before it is done
      const auto first =
          static_cast<std::uint32_t>(lanes[l].firstReaching(static_cast<TimeNs>(s.view.start_ns)));
      for (auto e = std::ranges::lower_bound(on_path, first); e != on_path.end(); ++e) {
        const double x0 = s.view.xOf(static_cast<double>(lanes[l].startNs(*e)));
        if (x0 >= g.laneWidth()) break;
        if (x0 > x) painter.fillRect(QRectF(g.titles + x, y, x0 - x, height), veil);
        x = std::max({x, x0 + 1, s.view.xOf(static_cast<double>(lanes[l].endNs(*e)))});
      }
      if (x < g.laneWidth()) painter.fillRect(QRectF(g.titles + x, y, g.laneWidth() - x, height), veil);
    }
  }
}

}  // namespace pitwall::gui
