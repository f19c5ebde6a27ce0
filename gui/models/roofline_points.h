// The operators of a report in a roofline plot.
#pragma once

#include <QString>
#include <vector>

#include "analyzer/report.h"
#include "analyzer/roofline.h"

namespace pitwall::gui {

struct RooflinePoint {
  QString title;               // "conv1 Convolution (backward)"
  std::string name, layer;     // of the operator
  double flop_per_byte = 0;    // above 0
  double flop_per_second = 0;  // above 0
  TimeNs time_ns = 0;          // total, of a device where it launched work
  double share = 0;            // of all operators' time
  bool on_device = false;      // whose peak rates are unknown
};

// Those whose FLOP and bytes are known, the longest total first.
std::vector<RooflinePoint> rooflinePoints(const Report& report);

// FLOP per second that the machine allows at most with so many FLOP per byte of memory; 0 = unknown.
double allowedRate(const MachineRoofline& machine, double flop_per_byte);

// A point in words: "conv1 Convolution: 12.0 GFLOP/s, 24.0 FLOP/byte, 40.0 % of what memory allows; 18.2 % of the time".
QString inWords(const RooflinePoint& point, const MachineRoofline& machine);

}  // namespace pitwall::gui
