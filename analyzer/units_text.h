// Numbers as readable text.
#pragma once

#include <cstdint>
#include <string>

#include "db/units.h"

namespace pitwall {

std::string showDuration(double ns);                     // "1.23 ms"
std::string showBytes(double bytes);                     // "3.0 MiB"
std::string showShare(double share);                     // "31.2 %"
std::string showCount(std::int64_t count);               // "12,346"
std::string showRate(double per_second);                 // "12,346"
std::string showReal(double value);                      // three significant digits
std::string showScaled(double value, const char* unit);  // 1.2e9, "FLOP/s" -> "1.20 GFLOP/s"

}  // namespace pitwall
