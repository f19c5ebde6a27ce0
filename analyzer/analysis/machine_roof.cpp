#include <algorithm>
#include <cstdlib>

#include "analyzer/roof.h"
#include "db/meta.h"

namespace pitwall {

MachineRoof machineRoof(const Trace& trace) {
  const auto number = [&trace](const char* key) {
    return std::max(0.0, std::strtod(trace.meta(key).value_or("0").c_str(), nullptr));
  };
  MachineRoof roof{number(meta::kRooflineFlop),
                   std::max(number(meta::kRooflineCopy), number(meta::kRooflineTriad))};
  const double usable = number(meta::kUsableCpus) * number(meta::kRooflineFlopOne);
  if (usable > 0) roof.flop_per_second = std::min(roof.flop_per_second, usable);
  return roof;
}

}  // namespace pitwall
