#include "gui/timeline/counter_text.h"

#include <cmath>

#include "analyzer/units_text.h"

namespace pitwall::gui {

std::string showCounter(double value, const std::string& unit) {
  if (unit == "bytes") return showBytes(value);
  if (unit == "bytes/s") return value == 0 ? "0 B/s" : showScaled(value, "B/s");
  if (unit == "share") return showShare(value);
  if (unit == "ns") return showDuration(value);
  if (unit.ends_with("/s") && unit.starts_with("1")) {  // 23.6 k/s
    if (std::abs(value) < 1000) return showReal(value) + " /s";
    return showScaled(value, "/s");
  }
  if (std::abs(value) >= 1e6) return showScaled(value, unit.c_str());
  return (value == std::floor(value) ? showCount(static_cast<long long>(value)) : showReal(value)) +
         (unit.empty() ? "" : " " + unit);
}

std::string showDifference(double value, const std::string& unit) {
  return (value >= 0 ? "+" : "-") + showCounter(std::abs(value), unit);
}

}  // namespace pitwall::gui
