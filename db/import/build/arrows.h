// Dependencies between events: those that readers give by correlation number, and those that are arrows
// between two points in time, which bind to the ranges that enclose the points.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "db/event.h"
#include "db/import/build/phases.h"
#include "db/import/build/tally.h"
#include "db/import/build/tracks.h"
#include "db/sink.h"

namespace pitwall::import {

// One end of an arrow between the ranges that enclose the two points.
struct FlowPoint {
  TrackRef track;
  std::int64_t time_ns = 0;
  std::uint64_t key = 0;      // hash of the arrow's name
  int order = 0;              // 0 start, 1 step, 2 end
  bool next_range = false;    // binds to the range that begins next on the track
  Phase phase = Phase::none;  // of the operator at this end, where the arrow gives it
};

class Arrows {
 public:
  explicit Arrows(Tally& tally) : tally_(tally) {}

  CorrelationId newCorrelation() { return ++correlation_; }
  CorrelationId newCorrelations(std::uint64_t count) {  // the first of so many
    correlation_ += count;
    return correlation_ - count + 1;
  }
  void depend(CorrelationId source, CorrelationId target, DependencyKind kind);
  void add(const FlowPoint& point) { points_.push_back(point); }

  void beginInput() { sources_.clear(); }
  // Binds the points to the buffered events, which are sorted; `phases` learns of those with a phase.
  void bind(Tracks& tracks, Phases& phases);
  void emit(TraceSink& sink);

 private:
  struct Source {
    CorrelationId id = 0;
    bool ended = false;
  };
  CorrelationId bindOne(std::vector<Event>& events, const FlowPoint& point);
  void boundSources();

  Tally& tally_;
  CorrelationId correlation_ = 0;  // the newest
  std::vector<FlowPoint> points_;
  std::unordered_map<std::uint64_t, Source> sources_;  // by FlowPoint.key
  std::vector<Dependency> dependencies_;
};

}  // namespace pitwall::import
