// The peak rates of a machine, measured by `pitwall env --calibrate` and stored in a trace.
#pragma once

#include "db/reader.h"

namespace pitwall {

struct MachineRoofline {
  double flop_per_second = 0;   // float32, of the CPUs that the program may use; 0 = not measured
  double bytes_per_second = 0;  // of memory; 0 = not measured
};

MachineRoofline machineRoofline(const Trace& trace);

}  // namespace pitwall
