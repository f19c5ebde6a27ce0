#include "analyzer/analysis/intervals.h"

#include <algorithm>

namespace pitwall::analysis {

namespace {

bool isUnited(std::span<const Interval> list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].end_ns <= list[i].start_ns) return false;
    if (i > 0 && list[i].start_ns <= list[i - 1].end_ns) return false;
  }
  return true;
}

}  // namespace

void appendUnion(Intervals& list, Interval next) {
  if (next.end_ns <= next.start_ns) return;
  if (!list.empty() && next.start_ns <= list.back().end_ns) {
    list.back().end_ns = std::max(list.back().end_ns, next.end_ns);
  } else {
    list.push_back(next);
  }
}

void addInterval(Intervals& list, Interval next) {
  if (!list.empty() && next.start_ns < list.back().start_ns) {
    list.push_back(next);
  } else {
    appendUnion(list, next);
  }
}

Intervals united(Intervals list) {
  const auto earlier = [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; };
  if (isUnited(list)) return list;
  if (!std::is_sorted(list.begin(), list.end(), earlier)) std::sort(list.begin(), list.end(), earlier);
  Intervals result;
  for (const auto& interval : list) appendUnion(result, interval);
  return result;
}

Intervals united(std::span<const Interval> a, std::span<const Interval> b) {
  Intervals result;
  result.reserve(std::max(a.size(), b.size()));
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool first = j == b.size() || (i < a.size() && a[i].start_ns < b[j].start_ns);
    appendUnion(result, first ? a[i++] : b[j++]);
  }
  return result;
}

Intervals subtract(std::span<const Interval> from, std::span<const Interval> without) {
  Intervals result;
  std::size_t w = 0;
  for (const auto& interval : from) {
    TimeNs at = interval.start_ns;
    while (w < without.size() && without[w].end_ns <= at) ++w;
    for (std::size_t i = w; i < without.size() && without[i].start_ns < interval.end_ns; ++i) {
      appendUnion(result, {at, std::min(without[i].start_ns, interval.end_ns)});
      at = std::max(at, without[i].end_ns);
      w = i;  // it may overlap the next interval too
    }
    appendUnion(result, {at, interval.end_ns});
  }
  return result;
}

Intervals intersect(std::span<const Interval> a, std::span<const Interval> b) {
  Intervals result;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    appendUnion(result, {std::max(a[i].start_ns, b[j].start_ns), std::min(a[i].end_ns, b[j].end_ns)});
    if (a[i].end_ns < b[j].end_ns) {
      ++i;
    } else {
      ++j;
    }
  }
  return result;
}

Intervals within(std::span<const Interval> list, TimeNs begin_ns, TimeNs end_ns) {
  auto at = std::partition_point(
      list.begin(), list.end(), [begin_ns](const Interval& interval) { return interval.end_ns <= begin_ns; });
  Intervals result;
  for (; at != list.end() && at->start_ns < end_ns; ++at)
    appendUnion(result, {std::max(at->start_ns, begin_ns), std::min(at->end_ns, end_ns)});
  return result;
}

TimeNs covered(std::span<const Interval> list) {
  TimeNs sum = 0;
  for (const auto& interval : list) sum += interval.end_ns - interval.start_ns;
  return sum;
}

TimeNs CoverCursor::within(TimeNs begin_ns, TimeNs end_ns) {
  while (at_ < list_.size() && list_[at_].end_ns <= begin_ns) ++at_;
  TimeNs sum = 0;
  for (std::size_t i = at_; i < list_.size() && list_[i].start_ns < end_ns; ++i)
    sum += std::min(list_[i].end_ns, end_ns) - std::max(list_[i].start_ns, begin_ns);
  return sum;
}

}  // namespace pitwall::analysis
