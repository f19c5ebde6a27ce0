#include "gui/views/arrow_marks.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/views/timeline_scene.h"

namespace pitwall::gui {
namespace {

constexpr double kDepthPx = 14;                 // of an arrow along one lane, below it
constexpr double kHeadPx = 8, kHeadHalf = 3.5;  // length of a head, half of its width
constexpr double kMarginPx = 4000;              // beyond the widget, where painters cannot count further
constexpr double kNearPx = 12;
constexpr int kFaintAlpha = 90;

struct Curve {
  QPointF from, to, bend_from, bend_to;
};

// From the side that faces the other lane: names within both stay readable.
Curve curveBetween(const QRectF& a, const QRectF& b) {
  if (std::abs(a.center().y() - b.center().y()) < 1) {
    const double reach = b.left() - a.right() < kNearPx ? 8 : 0;
    const QPointF from(a.right() - reach, a.bottom()), to(b.left() + reach, b.bottom());
    return {from, to, from + QPointF(0, kDepthPx), to + QPointF(0, kDepthPx)};
  }
  const bool down = b.top() > a.top();
  const QPointF from(a.right(), down ? a.bottom() : a.top()), to(b.left(), down ? b.top() : b.bottom());
  const QPointF bend(0, (down ? 1 : -1) * std::clamp(std::abs(to.y() - from.y()) / 2, 12.0, 60.0));
  return {from, to, from + bend, to - bend};
}

// A launch leaves from the event's start; so does what reaches beyond the start of the other.
QRectF leavingFrom(QRectF source, const QRectF& target) {
  if (source.right() > target.left()) source.setRight(std::max(source.left(), target.left()));
  return source;
}

void paintHead(QPainter& painter, const Curve& curve) {
  QPointF way = curve.to - curve.bend_to;
  const double length = std::hypot(way.x(), way.y());
  if (length < 0.1) return;
  way /= length;
  const QPointF across(-way.y(), way.x()), foot = curve.to - way * kHeadPx;
  painter.drawPolygon(QPolygonF({curve.to, foot + across * kHeadHalf, foot - across * kHeadHalf}));
}

}  // namespace

void paintArrows(QPainter& painter, const SceneGeometry& g, const SceneState& s, QColor ink) {
  if (s.arrows.empty()) return;
  painter.setRenderHint(QPainter::Antialiasing, true);
  bool strong_in = true, strong_out = true;
  std::vector<std::pair<Curve, bool>> curves;
  for (const auto& [source, target] : s.arrows) {
    QRectF a = TimelineScene::rectOf(source, g, s), b = TimelineScene::rectOf(target, g, s);
    const bool strong = std::exchange(s.selected == target ? strong_in : strong_out, false);
    if (a.isEmpty() || b.isEmpty()) continue;
    // Neighbours that touch: there is no room for an arrow, and it would say nothing.
    const bool same_lane = source.track == target.track && source.lane == target.lane;
    if (same_lane && source.index + 1 == target.index && b.left() - a.right() < kNearPx) continue;
    for (QRectF* rect : {&a, &b}) {
      rect->setLeft(std::clamp(rect->left(), -kMarginPx, g.width + kMarginPx));
      rect->setRight(std::clamp(rect->right(), -kMarginPx, g.width + kMarginPx));
    }
    curves.emplace_back(curveBetween(leavingFrom(a, b), b), strong);
  }
  // Strong ones over the others.
  std::stable_partition(curves.begin(), curves.end(), [](const auto& curve) { return !curve.second; });
  for (const auto& [curve, strong] : curves) {
    ink.setAlpha(strong ? 255 : kFaintAlpha);
    painter.setPen(QPen(ink, strong ? 1.5 : 1));
    painter.setBrush(Qt::NoBrush);
    QPainterPath path(curve.from);
    path.cubicTo(curve.bend_from, curve.bend_to, curve.to);
    painter.drawPath(path);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    paintHead(painter, curve);
  }
  painter.setBrush(Qt::NoBrush);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace pitwall::gui
