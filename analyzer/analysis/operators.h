// The operator table: one row per distinct operator (same type, layer, shapes, phase), over the steady
// iterations.
#pragma once

#include <span>
#include <vector>

#include "analyzer/analysis/iterations.h"
#include "analyzer/analysis/timeline.h"
#include "analyzer/report.h"
#include "db/event.h"
#include "db/reader.h"

namespace pitwall::analysis {

// What the report shows and what only rules ask for.
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
  std::vector<OperatorStatistics> rows;  // by total time, longest first
  TimeNs total_ns = 0;                   // all executions, overlapping ones each in full
};

// Counts executions that start in a steady iteration (in any iteration when none is steady).
OperatorTable tabulateOperators(const Timeline& timeline, std::span<const Iteration> iterations,
                                std::span<const OperatorFacts> facts);

// What the machine can do at most, as the trace's meta tells it (keys roof.*); 0 = not measured.
struct Roof {
  double flop_per_second = 0;   // of the CPUs that the program may use
  double bytes_per_second = 0;  // of memory
};
Roof roofOf(const Trace& trace);

// Fills in how close each operator comes to the roof; operators of devices are left out.
void compareWithRoof(const Roof& roof, OperatorTable& table);

}  // namespace pitwall::analysis
