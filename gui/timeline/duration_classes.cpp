#include "gui/timeline/duration_classes.h"

#include <array>

namespace pitwall::gui {

template <int kSign>
void DurationClasses::change(const Lane& lane, std::size_t from, std::size_t to) {
  const auto durs = lane.columns().dur.values();
  const auto looks = lane.columns().look.values();
  // The part that is equal for all is written into an array first, without a branch.
  constexpr std::size_t kPortion = 2048;
  std::array<std::uint32_t, kPortion> cells;
  for (std::size_t begin = from; begin < to; begin += kPortion) {
    const std::size_t count = std::min(kPortion, to - begin);
    for (std::size_t i = 0; i < count; ++i) cells[i] = cellOf(looks[begin + i], durs[begin + i]);
    for (std::size_t i = 0; i < count; ++i) {
      totals_[cells[i] / kDurationClasses] += kSign * static_cast<TimeNs>(durs[begin + i]);
      counts_[cells[i]] += static_cast<std::uint32_t>(kSign);
    }
  }
  for (const LongDuration& dur : lane.columns().long_dur.values()) {
    if (dur.index < from || dur.index >= to) continue;
    const std::uint32_t cell = cellOf(looks[dur.index], durs[dur.index]);
    totals_[cell / kDurationClasses] += kSign * (dur.dur_ns - static_cast<TimeNs>(durs[dur.index]));
  }
}

template void DurationClasses::change<1>(const Lane&, std::size_t, std::size_t);
template void DurationClasses::change<-1>(const Lane&, std::size_t, std::size_t);

}  // namespace pitwall::gui
