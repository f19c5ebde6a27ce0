#include "gui/timeline/viewport.h"

#include <algorithm>
#include <cmath>

namespace pitwall::gui {
namespace {

constexpr double kLeastNsPerPx = 0.01;  // 100 pixels a nanosecond: nothing finer is recorded
constexpr std::size_t kMostRemembered = 100;

bool same(const View& a, const View& b) { return a.start_ns == b.start_ns && a.ns_per_px == b.ns_per_px; }

}  // namespace

void Viewport::setBounds(TimeNs begin_ns, TimeNs end_ns) {
  begin_ = begin_ns;
  end_ = std::max(end_ns, begin_ns + 1);
  past_.clear();
  future_.clear();
  showAll();
}

void Viewport::setWidth(int width_px) {
  if (width_px == view_.width_px) return;
  // The same time range on the new width.
  const double span = view_.ns_per_px * std::max(view_.width_px, 1);
  view_.width_px = width_px;
  view_.ns_per_px = span / std::max(width_px, 1);
  clamp();
}

void Viewport::panBy(double pixels) {
  start_ns_ += pixels * view_.ns_per_px;
  clamp();
}

void Viewport::zoomAt(double x, double factor) {
  const double fixed = view_.timeAt(x);  // as it is seen
  const double whole = static_cast<double>(end_ - begin_) * 1.1 / std::max(view_.width_px, 1);
  view_.ns_per_px = std::clamp(view_.ns_per_px * factor, kLeastNsPerPx, std::max(whole, kLeastNsPerPx));
  start_ns_ = fixed - x * view_.ns_per_px;
  clamp();
}

void Viewport::show(double from_ns, double to_ns) {
  const double width = std::max(view_.width_px, 1);
  if (to_ns > from_ns) view_.ns_per_px = std::max((to_ns - from_ns) * 1.1 / width, kLeastNsPerPx);
  start_ns_ = (from_ns + to_ns) / 2 - view_.ns_per_px * width / 2;
  clamp();
}

void Viewport::showAll() { show(static_cast<double>(begin_), static_cast<double>(end_)); }

void Viewport::place(double start_ns, double ns_per_px) {
  start_ns_ = start_ns;
  view_.ns_per_px = std::max(ns_per_px, kLeastNsPerPx);
  clamp();
}

void Viewport::widenBounds(TimeNs begin_ns, TimeNs end_ns) {
  begin_ = std::min(begin_, begin_ns);
  end_ = std::max(end_, end_ns);
  clamp();
}

void Viewport::remember() {
  if (!past_.empty() && same(past_.back(), view_)) return;
  past_.push_back(view_);
  if (past_.size() > kMostRemembered) past_.erase(past_.begin());
  future_.clear();
}

bool Viewport::undo() {
  while (!past_.empty() && same(past_.back(), view_)) past_.pop_back();
  if (past_.empty()) return false;
  future_.push_back(view_);
  const int width = view_.width_px;
  view_ = past_.back();
  past_.pop_back();
  start_ns_ = view_.start_ns;
  setWidth(width);
  return true;
}

bool Viewport::redo() {
  if (future_.empty()) return false;
  past_.push_back(view_);
  const int width = view_.width_px;
  view_ = future_.back();
  future_.pop_back();
  start_ns_ = view_.start_ns;
  setWidth(width);
  return true;
}

void Viewport::clamp() {
  const double span = view_.ns_per_px * std::max(view_.width_px, 1);
  const double margin = span / 2;
  const double least = static_cast<double>(begin_) - margin, most = static_cast<double>(end_) + margin - span;
  start_ns_ = std::clamp(start_ns_, std::min(least, most), std::max(least, most));
  snap();
}

void Viewport::snap() { view_.start_ns = std::round(start_ns_ / view_.ns_per_px) * view_.ns_per_px; }

}  // namespace pitwall::gui
