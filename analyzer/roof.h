// What a machine can do at most, as it was measured (`pitwall env --calibrate`) and noted in a trace.
#pragma once

#include "db/reader.h"

namespace pitwall {

struct MachineRoof {
  double flop_per_second = 0;   // float32, of the CPUs that the program may use; 0 = not measured
  double bytes_per_second = 0;  // of memory; 0 = not measured
};

MachineRoof machineRoof(const Trace& trace);

}  // namespace pitwall
