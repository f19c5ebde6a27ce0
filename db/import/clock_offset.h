// The difference of two clocks from moments that both have recorded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/units.h"

namespace pitwall::import {

// A moment that other inputs contain too, identified by its key.
using Moments = std::map<std::pair<std::int64_t, std::string>, TimeNs>;

struct ClockOffset {
  TimeNs offset_ns = 0;       // of the second's clock: add it to the second's times
  TimeNs uncertainty_ns = 0;  // nine of ten moments differ from the offset by this at most
  std::size_t moments = 0;
};

// None when fewer than `least` moments are common.
std::optional<ClockOffset> clockOffset(const Moments& first, const Moments& second, std::size_t least);

}  // namespace pitwall::import
