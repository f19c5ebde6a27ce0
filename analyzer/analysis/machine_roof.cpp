#include "analyzer/analysis/operators.h"
#include "analyzer/roof.h"

namespace pitwall {

MachineRoof machineRoof(const Trace& trace) {
  const analysis::Roof roof = analysis::roofOf(trace);
  return {roof.flop_per_second, roof.bytes_per_second};
}

}  // namespace pitwall
