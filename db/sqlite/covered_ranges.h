// Time that events of a track cover.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "db/event.h"
#include "db/result.h"
#include "db/sqlite/trace_data.h"

namespace pitwall::store {

// Half-open, ns.
struct TimeRange {
  TimeNs begin_ns = 0;
  TimeNs end_ns = 0;
};

// From the least start to the greatest end of the track's events; empty without events.
TimeRange extentOf(TraceData& data, std::uint32_t track);

// Disjoint ranges, ordered, that events of the track (of that kind only, when given) cover within `window`.
Result<std::vector<TimeRange>> coveredRanges(TraceData& data, std::uint32_t track, TimeRange window,
                                             std::optional<EventKind> kind);

// The same ranges one by one, without memory for all of them. Works while the events come ordered by start,
// as they nearly always do; after an event out of order the ranges so far are invalid and coveredRanges()
// must be used.
class RangeStream {
 public:
  RangeStream(TraceData& data, std::uint32_t track, TimeRange window, std::optional<EventKind> kind)
      : data_(data), track_(track), window_(window), kind_(kind) {}

  // False at the end, or when inOrder() turned false.
  Result<bool> next(TimeRange& range);
  bool inOrder() const { return in_order_; }

 private:
  Result<bool> openNextChunk();

  TraceData& data_;
  const std::uint32_t track_;
  const TimeRange window_;
  const std::optional<EventKind> kind_;
  std::size_t next_chunk_ = 0, row_ = 0;
  std::vector<std::int64_t> scratch_[3];
  std::span<const std::int64_t> columns_[3];  // start, dur, kind
  TimeRange gathered_;                        // not yet given
  bool open_ = false, in_order_ = true;
};

}  // namespace pitwall::store
