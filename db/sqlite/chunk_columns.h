// The columns of each kind of chunk, in the order of db/schema/schema.sql, and their common arithmetic. Used
// by writer and reader.
#pragma once

#include <cstdint>
#include <limits>

namespace pitwall::store {

enum class EventColumn : int {
  start,
  dur,
  pushed_before,  // start - pushed
  ready_before,   // start - ready
  correlation,
  value,
  name,
  op,
  kernel,
  args,
  kind,
  depth,
};
inline constexpr int kEventColumns = 12;
inline constexpr const char* kEventColumnNames[kEventColumns] = {
    "start", "dur",      "pushed_before", "ready_before", "correlation", "value",
    "name",  "operator", "kernel",        "args",         "kind",        "depth"};

enum class DependencyColumn : int { source, target, kind };
inline constexpr int kDependencyColumns = 3;
inline constexpr const char* kDependencyColumnNames[kDependencyColumns] = {"source", "target", "kind"};

enum class CounterColumn : int { time, value };
inline constexpr int kCounterColumns = 2;
inline constexpr const char* kCounterColumnNames[kCounterColumns] = {"time", "value"};

// Differences are stored modulo 2^64, so that every value is restored exactly.
inline std::int64_t wrappingMinus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

// An end beyond the range of TimeNs is clamped.
inline std::int64_t cappedEnd(std::int64_t start, std::int64_t dur) {
  std::int64_t end = 0;
  if (!__builtin_add_overflow(start, dur, &end)) return end;
  return dur > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

}  // namespace pitwall::store
