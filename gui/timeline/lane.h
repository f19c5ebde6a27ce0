// One line of the timeline: events that never overlap, ordered by start, as columns. 16 bytes an event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "db/units.h"

namespace pitwall::gui {

// Index of a colour of the palette (palette.h), 0..31.
using ColorIndex = std::uint8_t;

class Lane {
 public:
  // start must not lie before the end of the last event.
  void append(TimeNs start_ns, TimeNs dur_ns, std::uint32_t name, ColorIndex color);

  std::size_t size() const { return start_.size(); }
  bool empty() const { return start_.empty(); }
  TimeNs startNs(std::size_t i) const { return start_[i]; }
  TimeNs durNs(std::size_t i) const { return dur_[i] == kLong ? long_.at(i) : static_cast<TimeNs>(dur_[i]); }
  TimeNs endNs(std::size_t i) const { return start_[i] + durNs(i); }
  std::uint32_t name(std::size_t i) const { return name_[i] & kNameMask; }  // StringId.value
  ColorIndex color(std::size_t i) const { return static_cast<ColorIndex>(name_[i] >> kNameBits); }

  // Index of the first event that starts at `time` or later; size() when none.
  std::size_t firstAt(TimeNs time) const;
  // Index of the first event that ends after `time` (an instant: that starts at it or later).
  std::size_t firstReaching(TimeNs time) const;

  // Gives back what the vectors reserved beyond their size.
  void shrink();
  std::size_t memoryBytes() const;

 private:
  static constexpr std::uint32_t kLong = 0xFFFFFFFF;  // 4.29 s or longer: the duration stands in long_
  static constexpr int kNameBits = 27;
  static constexpr std::uint32_t kNameMask = (1U << kNameBits) - 1;

  std::vector<TimeNs> start_;
  std::vector<std::uint32_t> dur_;
  std::vector<std::uint32_t> name_;  // name in the low 27 bits, colour above
  std::unordered_map<std::size_t, TimeNs> long_;
};

}  // namespace pitwall::gui
