#include <algorithm>
#include <cstdlib>

#include "analyzer/roofline.h"
#include "db/meta.h"

namespace pitwall {

MachineRoofline machineRoofline(const Trace& trace) {
  const auto number = [&trace](const char* key) {
    return std::max(0.0, std::strtod(trace.meta(key).value_or("0").c_str(), nullptr));
  };
  MachineRoofline roofline{number(meta::kRooflineFlop),
                           std::max(number(meta::kRooflineCopy), number(meta::kRooflineTriad))};
  const double usable = number(meta::kUsableCpus) * number(meta::kRooflineFlopOne);
  if (usable > 0) roofline.flop_per_second = std::min(roofline.flop_per_second, usable);
  return roofline;
}

}  // namespace pitwall
