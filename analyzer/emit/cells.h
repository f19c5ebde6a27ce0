// Cells of a walk's tables, as a machine and as a person reads them.
#pragma once

#include <fmt/core.h>

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
inline Cell share(double value) { return {value, showShare(value)}; }

// "1 other", "27 others".
inline std::string plural(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", showCount(count), count == 1 ? one : many);
}

}  // namespace pitwall::emit
