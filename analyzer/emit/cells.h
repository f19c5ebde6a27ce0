// Cells of a walk's tables, as a machine and as a person reads them.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "analyzer/emit/emitter.h"
#include "analyzer/units_text.h"
#include "db/units.h"

namespace pitwall::emit {

inline Cell text(const std::string& value) { return {value, value}; }
inline Cell jsonOnly(Json value) { return {std::move(value), {}}; }
inline Cell textOnly(std::string value) { return {{}, std::move(value)}; }
inline Cell duration(TimeNs ns) { return {ns, showDuration(static_cast<double>(ns))}; }
// A machine reads the share.
inline Cell bar(double share) { return {share, {}, std::clamp(share, 0.0, 1.0)}; }
inline Cell share(double value) { return {value, showShare(value)}; }

// "1 other", "27 others".
inline std::string plural(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", showCount(count), count == 1 ? one : many);
}

// 1.25x for a share of 0.2 of the time removed.
inline std::string speedUp(double removed) {
  const double factor = 1 / (1 - std::min(removed, 0.999));
  if (factor > 100) return "more than 100x";
  return factor < 10 ? fmt::format("{:.2f}x", factor) : fmt::format("{:.0f}x", factor);
}

}  // namespace pitwall::emit
