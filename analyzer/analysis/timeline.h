// What analyses need to know of the process that a trace is about; its operators come one time chunk after
// the other (analyzer/analysis/time_chunks.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/analysis/intervals.h"
#include "db/reader.h"

namespace pitwall::analysis {

struct Activity;

struct OperatorInterval {
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  TimeNs pushed_ns = 0;
  CorrelationId correlation = 0;
  OperatorId op;
  std::uint32_t track = 0;  // TrackId.value
};

struct Timeline {
  ProcessId process;
  std::string process_name;
  int other_processes = 0;  // with operators too, which this timeline leaves out

  std::int64_t operators = 0;          // executions
  TimeNs operator_ns = 0;              // all of them together
  TimeNs operator_after_marks_ns = 0;  // of those that start after the last iteration mark
  std::vector<bool> is_transfer;       // by OperatorId.value - 1: see isTransfer()
  std::vector<TimeNs> step_starts;     // of a range that the program names once per step; may be empty
  std::vector<Interval> bulks;
  std::vector<Interval> data_waits;     // training thread waits for a batch
  std::vector<Interval> engine_waits;   // training thread waits for operators
  std::vector<Interval> communication;  // of any thread of the process with other processes
  std::vector<Interval> losses;         // spans in which events are missing
  int operator_tracks = 0;              // threads and streams that ran operators
  TrackId training_track;               // the thread that trains; none = not known
  TimeNs recorder_ns = 0;               // time of Pitwall's own work
  TimeNs begin_ns = 0, end_ns = 0;      // first start and last end of any event
  std::int64_t lost_events = 0;         // 0 with losses: an unknown number
  // The operators are the calls of one library, from its log: what runs between them was not recorded.
  bool library_calls_only = false;

  // Whether the operator moves data between devices.
  bool isTransfer(OperatorId op) const {
    return op && op.value <= is_transfer.size() && is_transfer[op.value - 1];
  }
};

// Of the process that ran most operators.
Timeline timelineOf(const Trace& trace, const Activity& activity);

}  // namespace pitwall::analysis
