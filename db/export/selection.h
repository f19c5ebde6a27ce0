// The part of a trace to export: all, a time range, a rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "db/export.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::exporting {

// Counts progress, reports it to the caller and checks for cancellation.
class Pace {
 public:
  Pace(const ExportOptions& options, std::int64_t total_rows) : options_(options), total_rows_(total_rows) {}
  // Errors: cancelled.
  Status advance(std::int64_t rows);

 private:
  const ExportOptions& options_;
  std::int64_t total_rows_;
  std::int64_t done_rows_ = 0;
};

class Selection {
 public:
  // Errors: invalidInput when no process has the rank.
  static Result<Selection> make(const Trace& trace, const ExportOptions& options);

  bool isComplete() const { return !range_ && tracks_.empty(); }
  bool has(ProcessId process) const;
  bool has(TrackId track) const { return tracks_.empty() || tracks_[track.value - 1]; }
  // Whether the event touches the range; for one without a length, its time.
  bool has(const Event& event) const {
    return !range_ || (event.start_ns < range_->end_ns && (event.start_ns + event.dur_ns > range_->begin_ns ||
                                                           event.start_ns >= range_->begin_ns));
  }
  bool hasTime(TimeNs time_ns) const {
    return !range_ || (time_ns >= range_->begin_ns && time_ns < range_->end_ns);
  }
  // Also a mark at the end, which ends the last iteration.
  bool has(const IterationMark& mark) const {
    return !range_ || (mark.time_ns >= range_->begin_ns && mark.time_ns <= range_->end_ns);
  }
  TimeNs beginNs() const { return range_ ? range_->begin_ns : std::numeric_limits<TimeNs>::min(); }
  TimeNs endNs() const { return range_ ? range_->end_ns : std::numeric_limits<TimeNs>::max(); }

 private:
  std::optional<ExportRange> range_;
  std::vector<bool> processes_;  // of the rank, by index; empty = all
  std::vector<bool> tracks_;
};

// Rows of events, samples and dependencies in the whole trace.
Result<std::int64_t> totalRows(Trace& trace);

}  // namespace pitwall::exporting
