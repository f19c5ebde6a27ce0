#include "gui/timeline/lane.h"

#include <algorithm>

#include "db/check.h"

namespace pitwall::gui {

void Lane::append(TimeNs start_ns, TimeNs dur_ns, std::uint32_t name, ColorIndex color) {
  PITWALL_CHECK(empty() || start_ns >= endNs(size() - 1), "event at %lld ns overlaps its lane's last",
                static_cast<long long>(start_ns));
  appendAny(start_ns, dur_ns, lookOf(name, color));
}

void Lane::appendAny(TimeNs start_ns, TimeNs dur_ns, std::uint32_t look) {
  if (isLong(dur_ns)) columns_.long_dur.own().push_back({size(), dur_ns});
  columns_.start.own().push_back(start_ns);
  columns_.dur.own().push_back(shortDur(dur_ns));
  columns_.look.own().push_back(look);
}

void Lane::appendAll(std::span<const TimeNs> start_ns, std::span<const TimeNs> dur_ns,
                     std::span<const std::uint32_t> looks) {
  std::vector<TimeNs>& start = columns_.start.own();
  std::vector<std::uint32_t>&dur = columns_.dur.own(), &look = columns_.look.own();
  start.insert(start.end(), start_ns.begin(), start_ns.end());
  look.insert(look.end(), looks.begin(), looks.end());
  const std::size_t before = dur.size();
  dur.resize(before + dur_ns.size());
  std::ranges::transform(dur_ns, dur.begin() + static_cast<std::ptrdiff_t>(before),
                         [](TimeNs ns) { return static_cast<std::uint32_t>(ns); });
}

void Lane::reserve(std::size_t events) {
  columns_.start.own().reserve(events);
  columns_.dur.own().reserve(events);
  columns_.look.own().reserve(events);
}

TimeNs Lane::longDur(std::size_t i) const {
  const auto values = columns_.long_dur.values();
  const auto found = std::lower_bound(values.begin(), values.end(), i,
                                      [](const LongDuration& d, std::size_t at) { return d.index < at; });
  return found != values.end() && found->index == i ? found->dur_ns : static_cast<TimeNs>(kLong);
}

std::size_t Lane::firstAt(TimeNs time) const {
  const auto starts = columns_.start.values();
  return static_cast<std::size_t>(std::lower_bound(starts.begin(), starts.end(), time) - starts.begin());
}

std::size_t Lane::firstReaching(TimeNs time) const {
  const std::size_t i = firstAt(time);
  return i > 0 && endNs(i - 1) > time ? i - 1 : i;
}

std::size_t Lane::memoryBytes() const {
  return columns_.start.memoryBytes() + columns_.dur.memoryBytes() + columns_.look.memoryBytes() +
         columns_.long_dur.memoryBytes();
}

}  // namespace pitwall::gui
