// Merges the events of one lane that are too short to be seen, so that a lane has a limited number of pieces.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "analyzer/report_timeline.h"

namespace pitwall::excerpt {

// Events may come in any order. An event shorter than the width is counted in the part of that width in which it starts.
class LaneMerger {
 public:
  // width_ns > 0.
  LaneMerger(TimeNs begin_ns, TimeNs width_ns) : begin_ns_(begin_ns), width_ns_(width_ns) {}

  void add(const ReportTimeline::Piece& piece);
  // Doubles the width.
  void coarsen();
  std::size_t size() const { return long_.size() + parts_.size(); }
  std::vector<ReportTimeline::Piece> pieces() const;  // by start

 private:
  struct Part {
    ReportTimeline::Piece piece;
    TimeNs longest_ns = 0;  // whose item the piece has
  };
  void merge(const ReportTimeline::Piece& piece, TimeNs longest_ns);

  TimeNs begin_ns_, width_ns_;
  std::vector<ReportTimeline::Piece> long_;
  std::unordered_map<TimeNs, Part> parts_;  // by place in units of the width
};

}  // namespace pitwall::excerpt
