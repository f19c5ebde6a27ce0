// One line of the timeline: events that never overlap, ordered by start, as columns. 16 bytes an event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "db/units.h"
#include "gui/timeline/column.h"

namespace pitwall::gui {

// Index of a colour of the palette (palette.h).
using ColorIndex = std::uint8_t;

// A duration too long for its column.
struct LongDuration {
  std::uint64_t index = 0;  // of the event in its lane
  TimeNs dur_ns = 0;
};

// The columns of a lane. Only the lane interprets them.
struct LaneColumns {
  Column<TimeNs> start;
  Column<std::uint32_t> dur;
  Column<std::uint32_t> look;  // name in the low 24 bits, colour above
  Column<LongDuration> long_dur;
};

class Lane {
 public:
  Lane() = default;
  explicit Lane(LaneColumns columns) : columns_(std::move(columns)) {}

  // start must not be before the end of the last event.
  void append(TimeNs start_ns, TimeNs dur_ns, std::uint32_t name, ColorIndex color);
  // For a list of events that is not a lane yet: they may overlap.
  void appendAny(TimeNs start_ns, TimeNs dur_ns, std::uint32_t look);
  // The same, of many. Precondition: no duration is long (isLong()).
  void appendAll(std::span<const TimeNs> start_ns, std::span<const TimeNs> dur_ns,
                 std::span<const std::uint32_t> looks);
  void reserve(std::size_t events);

  // Name and colour as one number.
  static std::uint32_t lookOf(std::uint32_t name, ColorIndex color) {
    // A trace with more than 16 million distinct names shows the surplus without a name.
    return (name <= kNameMask ? name : 0) | static_cast<std::uint32_t>(color) << kNameBits;
  }
  static std::uint32_t nameOf(std::uint32_t look) { return look & kNameMask; }
  static ColorIndex colorOf(std::uint32_t look) { return static_cast<ColorIndex>(look >> kNameBits); }

  // In the column of durations this stands for one that is as long, 4.29 s, or longer; it is in long_dur.
  static constexpr std::uint32_t kLong = 0xFFFFFFFF;
  static bool isLong(TimeNs dur_ns) { return dur_ns >= static_cast<TimeNs>(kLong); }
  static std::uint32_t shortDur(TimeNs dur_ns) {
    return isLong(dur_ns) ? kLong : static_cast<std::uint32_t>(dur_ns);
  }

  std::size_t size() const { return columns_.start.size(); }
  bool empty() const { return size() == 0; }
  TimeNs startNs(std::size_t i) const { return columns_.start[i]; }
  TimeNs durNs(std::size_t i) const {
    const std::uint32_t dur = columns_.dur[i];
    return dur == kLong ? longDur(i) : static_cast<TimeNs>(dur);
  }
  TimeNs endNs(std::size_t i) const { return startNs(i) + durNs(i); }
  std::uint32_t look(std::size_t i) const { return columns_.look[i]; }
  std::uint32_t name(std::size_t i) const { return nameOf(look(i)); }  // StringId.value
  ColorIndex color(std::size_t i) const { return colorOf(look(i)); }

  // Index of the first event that starts at `time` or later; size() when none.
  std::size_t firstAt(TimeNs time) const;
  // Index of the first event that ends after `time` (an instant: that starts at it or later).
  std::size_t firstReaching(TimeNs time) const;

  const LaneColumns& columns() const { return columns_; }
  // Of what is owned, not of a mapped file.
  std::size_t memoryBytes() const;

 private:
  static constexpr int kNameBits = 24;
  static constexpr std::uint32_t kNameMask = (1U << kNameBits) - 1;

  TimeNs longDur(std::size_t i) const;

  friend class LaneView;
  LaneColumns columns_;
};

// A lane for loops over many events: its columns, found once. The lane must not change meanwhile.
class LaneView {
 public:
  explicit LaneView(const Lane& lane)
      : lane_(&lane),
        start_(lane.columns().start.data()),
        dur_(lane.columns().dur.data()),
        look_(lane.columns().look.data()),
        size_(lane.size()) {}

  std::size_t size() const { return size_; }
  TimeNs startNs(std::size_t i) const { return start_[i]; }
  TimeNs durNs(std::size_t i) const {
    return dur_[i] == Lane::kLong ? lane_->longDur(i) : static_cast<TimeNs>(dur_[i]);
  }
  TimeNs endNs(std::size_t i) const { return startNs(i) + durNs(i); }
  std::uint32_t look(std::size_t i) const { return look_[i]; }
  std::uint32_t name(std::size_t i) const { return Lane::nameOf(look_[i]); }
  ColorIndex color(std::size_t i) const { return Lane::colorOf(look_[i]); }
  std::span<const TimeNs> starts() const { return {start_, size_}; }

 private:
  const Lane* lane_;
  const TimeNs* start_;
  const std::uint32_t *dur_, *look_;
  std::size_t size_;
};

}  // namespace pitwall::gui
