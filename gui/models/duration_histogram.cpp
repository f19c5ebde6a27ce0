#include "gui/models/duration_histogram.h"

#include <algorithm>
#include <cmath>

namespace pitwall::gui {

DurationHistogram durationHistogram(const Timeline& timeline, std::uint32_t name, TimeNs from, TimeNs to,
                                    int bins, const std::atomic<bool>* cancel) {
  DurationHistogram made;
  std::vector<TimeNs> durations;
  TimeNs total = 0;
  for (const TimelineTrack& track : timeline.tracks) {
    for (const Lane& lane : track.lanes) {
      if (cancel != nullptr && cancel->load()) return made;
      for (std::size_t i = lane.firstReaching(from); i < lane.size() && lane.startNs(i) < to; ++i) {
        if (lane.name(i) != name) continue;
        durations.push_back(lane.durNs(i));
        total += std::min(lane.endNs(i), to) - std::max(lane.startNs(i), from);
      }
    }
  }
  if (durations.empty()) return made;
  made.facts = summarize(name, total, durations);
  const auto least = static_cast<double>(std::max<TimeNs>(1, made.facts.min_ns));
  const auto most = static_cast<double>(made.facts.max_ns);
  made.by_factor = most > 10 * least;
  // Bins of less than a nanosecond would be empty ones.
  const TimeNs width = made.facts.max_ns - made.facts.min_ns;
  const auto count = static_cast<std::size_t>(std::clamp<TimeNs>(width, 1, bins));
  TimeNs edge = made.facts.min_ns;
  for (std::size_t i = 1; i <= count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count);
    const double at = made.by_factor
                          ? least * std::pow(most / least, share)
                          : static_cast<double>(made.facts.min_ns) + share * static_cast<double>(width);
    const TimeNs next = i == count ? made.facts.max_ns : static_cast<TimeNs>(at);
    if (next <= edge && i < count) continue;
    made.bins.push_back({edge, next, 0});
    edge = next;
  }
  for (const TimeNs dur : durations) ++made.bins[*binOf(made, dur)].count;
  for (const DurationHistogram::Bin& bin : made.bins) made.most = std::max(made.most, bin.count);
  return made;
}

std::optional<std::size_t> binOf(const DurationHistogram& histogram, TimeNs dur_ns) {
  const auto& bins = histogram.bins;
  if (bins.empty() || dur_ns < bins.front().from_ns || dur_ns > bins.back().to_ns) return std::nullopt;
  const auto next =
      std::upper_bound(bins.begin(), bins.end(), dur_ns,
                       [](TimeNs dur, const DurationHistogram::Bin& bin) { return dur < bin.to_ns; });
  return next == bins.end() ? bins.size() - 1 : static_cast<std::size_t>(next - bins.begin());
}

}  // namespace pitwall::gui
