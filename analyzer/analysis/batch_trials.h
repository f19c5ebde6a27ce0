// How long an iteration takes with other batch sizes: as tried, and as a line through each operator's times
// says.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analyzer/analysis/iterations.h"
#include "analyzer/report.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

struct BatchTrial {
  std::int64_t batch = 0;
  double iteration_ns = 0;                    // median of steady iterations
  std::map<std::string, double> operator_ns;  // of an iteration, by title and phase
};

// The program's batch: its tunable batch_size, else the items of its steady iterations; 0 = unknown.
std::int64_t batchOf(const Trace& trace, const Iterations& iterations);
std::int64_t batchOf(const Trace& trace);  // its tunable alone

BatchTrial batchTrial(std::int64_t batch, const Breakdown& breakdown, std::span<const OperatorRow> operators);

// A batch size with the time of an iteration: tried, or predicted from three tried ones or more.
struct BatchTime {
  std::int64_t batch = 0;
  bool is_measured = false;
  double iteration_ns = 0, low_ns = 0, high_ns = 0;
  std::string slower;    // the operator that costs most more for an item than with the first trial's batch
  double slower_ns = 0;  // what it costs more for an item; 0 = none does
};

// The first trial is the analysed trace. Predicts twice and four times its batch, and twice the largest, none
// beyond that: an operator's time is a + b x batch, with neither below 0, and its interval twice the standard
// deviation from the line. Measured times get 5 % to either side for runs that differ.
std::vector<BatchTime> batchTimes(std::vector<BatchTrial> trials);

// Writes analysis_batch.
Status writeBatchTimes(Trace& trace, std::span<const BatchTime> times);

}  // namespace pitwall::analysis
