// Perfetto's clocks: times of any of them on the trace's own.
//
// A snapshot gives the times of several clocks at one moment. Clocks 64 to 127 belong to one sequence of
// packets; an incremental one counts from its last time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace pitwall::import {

class PftraceClocks {
 public:
  static constexpr std::uint64_t kRealtime = 1, kMonotonic = 3, kBoottime = 6;

  // A message ClockSnapshot of this sequence.
  void snapshot(std::string_view message, std::uint64_t sequence);
  // None where no snapshot joins the clock to the trace's.
  std::optional<std::int64_t> time(std::uint64_t clock, std::uint64_t sequence, std::uint64_t timestamp);
  // The wall-clock time of the trace's time 0, once a snapshot has given it.
  std::optional<std::int64_t> unixZero() const { return unix_zero_; }
  std::uint64_t reference() const { return reference_; }
  bool hasSnapshot() const { return has_reference_; }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 16;
  struct Clock {
    std::int64_t offset_ns = 0;  // to the trace's clock
    std::int64_t last_ns = 0;    // of an incremental one
    std::uint64_t multiplier = 1;
    bool incremental = false;
  };
  static std::uint64_t keyOf(std::uint64_t clock, std::uint64_t sequence);

  std::unordered_map<std::uint64_t, Clock> clocks_;
  std::uint64_t reference_ = kBoottime;
  bool has_reference_ = false;
  std::optional<std::int64_t> unix_zero_;
};

}  // namespace pitwall::import
