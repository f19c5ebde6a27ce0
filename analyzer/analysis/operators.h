// The operator table: one row per distinct operator (same type, layer, shapes, phase), over the steady
// iterations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/analysis/iterations.h"
#include "analyzer/analysis/operator_nesting.h"
#include "analyzer/analysis/samples.h"
#include "analyzer/analysis/time_chunks.h"
#include "analyzer/analysis/timeline.h"
#include "analyzer/report.h"
#include "analyzer/roofline.h"
#include "db/event.h"
#include "db/reader.h"

namespace pitwall::analysis {

// The values that the report shows and those that only rules read.
struct OperatorStatistics {
  OperatorRow row;
  OperatorId op;
  TimeNs min_ns = 0, p10_ns = 0, p90_ns = 0;
  TimeNs queued_mean_ns = 0;  // pushed -> started
  Flop flop = 0;              // of one execution
  Bytes bytes_read = 0, bytes_written = 0;
  std::string dtype, backend, implementation;
};

struct OperatorTable {
  OperatorOrder order = OperatorOrder::selfTime;
  std::vector<OperatorStatistics> rows;  // by that time, then by self time
  TimeNs total_ns = 0;           // of threads: those that overlap on several count each, nested ones once
  TimeNs device_outside_ns = 0;  // device work that none of them launched, as far as is recorded
  // Left out: exchanges between processes (store_operators.h), which overlap with each other and with computation.
  std::int64_t exchanges = 0;
  TimeNs exchange_ns = 0;
};

// Counts executions that start in a steady iteration (in any iteration when none is steady), one time chunk
// after the other.
class OperatorSums {
 public:
  // The iterations must outlive it. `others` as in OperatorNesting.
  OperatorSums(std::span<const Iteration> iterations, std::size_t fact_count, std::vector<bool> others = {},
               HostThreads host = {});

  // In order of time, after those added before.
  void add(std::span<const OperatorInterval> operators);
  // Their launches, after the operators of each time chunk.
  void addDeviceWork(const TimeChunk& chunk, const LaunchIndex& launches) {
    nesting_.addDeviceWork(chunk.calls, chunk.work, launches, chunk.to_ns,
                           [this](TimeNs at) { return counts(at); });
  }

  // Whether addDeviceWork() asks for LaunchIndex::operatorOf().
  bool needsOperatorsOfCalls() const { return nesting_.hasCorrelations(); }

  OperatorTable table(std::span<const OperatorFacts> facts) const;
  // Executions that start in each iteration, steady or not.
  std::span<const std::uint32_t> executions() const { return executions_; }

 private:
  struct Sum {
    Samples durations;
    TimeNs queued_ns = 0;
  };
  // Whether what starts then is in an iteration that counts.
  bool counts(TimeNs at) const;
  OperatorStatistics summarize(OperatorId op, const OperatorFacts* facts) const;

  std::span<const Iteration> iterations_;
  bool any_steady_ = false;
  std::size_t at_ = 0;     // the iteration of the last operator
  std::vector<Sum> sums_;  // by OperatorId.value; 0: operators without facts
  OperatorNesting nesting_;
  std::vector<std::uint32_t> executions_;
};

// Fills in how close each operator comes to the roofline; operators of devices are left out.
void compareWithRoofline(const MachineRoofline& roofline, OperatorTable& table);

}  // namespace pitwall::analysis
