#include "db/import/build/arrows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace pitwall::import {
namespace {

constexpr std::size_t kFurthestBack = 4096;  // events searched for the one that encloses a point
constexpr std::size_t kMostSources = std::size_t{1} << 19;

}  // namespace

void Arrows::depend(CorrelationId source, CorrelationId target, DependencyKind kind) {
  dependencies_.push_back({source, target, kind});
  tally_.countDependencies(1);
}

CorrelationId Arrows::bindOne(std::vector<Event>& events, const FlowPoint& point) {
  const auto after =
      std::upper_bound(events.begin(), events.end(), point.time_ns,
                       [](std::int64_t time, const Event& event) { return time < event.start_ns; });
  Event* found = nullptr;
  if (point.next_range) {
    const auto next =
        std::lower_bound(events.begin(), events.end(), point.time_ns,
                         [](const Event& event, std::int64_t time) { return event.start_ns < time; });
    if (next != events.end()) found = &*next;
  } else {
    std::size_t steps = 0;
    for (auto at = after; at != events.begin() && steps < kFurthestBack; ++steps) {
      --at;
      if (at->kind != EventKind::instant && at->start_ns + at->dur_ns >= point.time_ns) {
        found = &*at;
        break;
      }
    }
  }
  if (found == nullptr) return 0;
  if (found->correlation == 0) found->correlation = newCorrelation();
  return found->correlation;
}

void Arrows::bind(Tracks& tracks, Phases& phases) {
  std::stable_sort(points_.begin(), points_.end(), [](const FlowPoint& a, const FlowPoint& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.order < b.order;
  });
  for (const FlowPoint& point : points_) {
    const CorrelationId end = bindOne(tracks[point.track].events, point);
    if (end != 0 && point.phase != Phase::none) phases.arrow(end, point.phase);
    if (end == 0) {
      tally_.dropped("arrows with an end that no range encloses", fmt::format("at {} ns", point.time_ns));
      continue;
    }
    if (point.order == 0) {
      sources_[point.key] = {end, false};
      continue;
    }
    const auto source = sources_.find(point.key);
    if (source == sources_.end()) {
      tally_.dropped("arrows with an end but no start", fmt::format("at {} ns", point.time_ns));
      continue;
    }
    if (source->second.id != end) depend(source->second.id, end, DependencyKind::flow);
    if (point.order == 1) source->second.id = end;
    if (point.order == 2) source->second.ended = true;  // kept: an arrow may have several ends
  }
  points_.clear();
  boundSources();
}

void Arrows::boundSources() {
  if (sources_.size() <= kMostSources) return;
  std::erase_if(sources_, [](const auto& entry) { return entry.second.ended; });
  if (sources_.size() <= kMostSources / 2) return;
  tally_.dropped(fmt::format("starts of arrows, of which more than {} waited for their ends at a time",
                             kMostSources / 2),
                 "");
  sources_.clear();
}

void Arrows::emit(TraceSink& sink) {
  if (!dependencies_.empty()) sink.dependencies(dependencies_);
  dependencies_.clear();
}

}  // namespace pitwall::import
