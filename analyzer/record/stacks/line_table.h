// Which line a Python instruction belongs to: CPython's line tables, of untrusted bytes.
#pragma once

#include <cstdint>
#include <span>

namespace pitwall::record {

enum class LineFormat : std::uint8_t {
  pairs,      // up to 3.9: co_lnotab, (bytes, lines) increments
  ranges,     // 3.10: co_linetable, (bytes, lines) per range, -128 = no line
  locations,  // from 3.11: co_linetable, entries with columns
};

// The line of the instruction `byte` bytes after the code's first one; 0 = none, or the table does not reach
// that far or is malformed.
int lineAt(LineFormat format, std::span<const std::uint8_t> table, int first_line, std::int64_t byte);

}  // namespace pitwall::record
