// The events of one process that analyses need, loaded once into flat arrays ordered by start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

struct Interval {
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
};

struct OperatorInterval {
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  TimeNs pushed_ns = 0;
  CorrelationId correlation = 0;
  OperatorId op;
};

struct Timeline {
  ProcessId process;
  std::string process_name;
  int other_processes = 0;  // with operators too, which this timeline leaves out

  std::vector<OperatorInterval> operators;
  std::vector<Interval> bulks;
  std::vector<Interval> data_waits;     // training thread waits for a batch
  std::vector<Interval> engine_waits;   // training thread waits for operators
  std::vector<Interval> losses;         // spans in which events are missing
  int operator_tracks = 0;              // threads and streams that ran operators
  int data_work_tracks = 0;             // threads that made batches
  TimeNs data_work_ns = 0;              // time of making batches, all threads
  TimeNs data_work_in_training_ns = 0;  // of it on the training thread itself
  TimeNs recorder_ns = 0;               // time of Pitwall's own work
  TimeNs begin_ns = 0, end_ns = 0;      // first start and last end of any event
  std::int64_t lost_events = 0;         // 0 with losses: an unknown number
};

// Takes the process that ran most operators. Errors: corruptTrace.
Result<Timeline> loadTimeline(Trace& trace);

}  // namespace pitwall::analysis
