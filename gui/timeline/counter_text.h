// Values of counters as people read them.
#pragma once

#include <string>

namespace pitwall::gui {

// With the unit as the trace has it: "3.0 MiB", "23.6 k/s", "93.1 %", "1.20 GB/s", "12 items".
std::string showCounter(double value, const std::string& unit);
// The same with its sign: "+1.5 MiB".
std::string showDifference(double value, const std::string& unit);

}  // namespace pitwall::gui
