#include "gui/timeline/lane.h"

#include <algorithm>

#include "db/check.h"

namespace pitwall::gui {

void Lane::append(TimeNs start_ns, TimeNs dur_ns, std::uint32_t name, ColorIndex color) {
  PITWALL_CHECK(start_.empty() || start_ns >= endNs(size() - 1), "event at %lld ns overlaps its lane's last",
                static_cast<long long>(start_ns));
  start_.push_back(start_ns);
  if (dur_ns >= static_cast<TimeNs>(kLong)) {
    long_.emplace(dur_.size(), dur_ns);
    dur_.push_back(kLong);
  } else {
    dur_.push_back(static_cast<std::uint32_t>(dur_ns));
  }
  // A trace with more than 134 million distinct names shows the surplus without a name.
  name_.push_back((name <= kNameMask ? name : 0) | static_cast<std::uint32_t>(color) << kNameBits);
}

std::size_t Lane::firstAt(TimeNs time) const {
  return static_cast<std::size_t>(std::lower_bound(start_.begin(), start_.end(), time) - start_.begin());
}

std::size_t Lane::firstReaching(TimeNs time) const {
  const std::size_t i = firstAt(time);
  return i > 0 && endNs(i - 1) > time ? i - 1 : i;
}

void Lane::shrink() {
  start_.shrink_to_fit();
  dur_.shrink_to_fit();
  name_.shrink_to_fit();
}

std::size_t Lane::memoryBytes() const {
  return start_.capacity() * sizeof(TimeNs) + (dur_.capacity() + name_.capacity()) * sizeof(std::uint32_t) +
         long_.size() * 32;
}

}  // namespace pitwall::gui
