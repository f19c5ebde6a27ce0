// A trace's events in order of time, a time chunk at a time, so that memory does not grow with the
// trace.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/timeline.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// What of a time chunk is read. Values join by |.
enum TimeChunkParts : std::uint8_t { kOperatorParts = 1, kWorkParts = 2, kCallParts = 4, kBusyParts = 8 };
inline constexpr TimeChunkParts kAllParts =
    static_cast<TimeChunkParts>(kOperatorParts | kWorkParts | kCallParts | kBusyParts);

// The events that start in [from, to). The time chunks follow each other without a gap, from the least time
// to the greatest.
struct TimeChunk {
  TimeNs from_ns = 0, to_ns = 0;
  // The earliest push of an operator that starts later than this time chunk; the greatest time for none.
  TimeNs pending_from_ns = 0;
  std::vector<OperatorInterval> operators;  // of the timeline's process; in order of time
  // Grouped by track, in the order of Activity::tracks; by start within.
  std::vector<DeviceWork> work;
  std::vector<HostCall> calls;
  std::vector<std::size_t> work_of_track;  // where those of tracks[i] begin; one entry more than tracks
  // Time that events of threads cover, but for the recorder's own, united within each track.
  Intervals busy;
  std::vector<std::size_t> busy_of_track;  // likewise
};

class TimeChunkReader {
 public:
  // False ends the pass.
  using Visitor = std::function<Result<bool>(const TimeChunk&)>;

  // All must outlive it.
  TimeChunkReader(Trace& trace, const Activity& activity, ProcessId process, const Reading& reading);

  // In order of time; the time chunk is valid during the call. Errors: the visitor's; corruptTrace;
  // cancelled.
  Status each(TimeChunkParts parts, const Visitor& visitor);
  // The process's operators that start in [from, to), in order of time; all at once. Errors: corruptTrace.
  Result<std::vector<OperatorInterval>> operatorsBetween(TimeNs from, TimeNs to);
  // The first ones, at least `count` if there are as many.
  Result<std::vector<OperatorInterval>> firstOperators(std::size_t count);

  const Activity& activity() const { return activity_; }
  const Reading& reading() const { return reading_; }

 private:
  Status read(TimeChunkParts parts, TimeChunk& chunk);
  Status readTrack(std::size_t track, TimeChunkParts parts, TimeChunk& chunk);
  TimeChunkParts partsOf(std::size_t track, TimeChunkParts wanted) const;
  void add(const EventSpans& events, const TrackActivity& track, TimeChunkParts parts,
           TimeChunk& chunk) const;

  Trace& trace_;
  const Activity& activity_;
  const ProcessId process_;
  const Reading& reading_;
  std::vector<TimeNs> pending_from_;  // by time chunk
  std::vector<bool> sets_memory_;     // by name
};

}  // namespace pitwall::analysis
