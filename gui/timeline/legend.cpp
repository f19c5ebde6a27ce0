#include "gui/timeline/legend.h"

#include <algorithm>
#include <map>

namespace pitwall::gui {
namespace {

// Events narrower than this are looked at in samples.
constexpr double kStepPx = 4;

struct Key {
  bool of_name;
  std::uint32_t value;  // first name of the group, or the category
  auto operator<=>(const Key&) const = default;
};

struct Found {
  ColorIndex color = 0;
  std::uint32_t name = 0;
  double pixels = 0;
};

class Legend {
 public:
  Legend(const Timeline& timeline, const View& view, ColorBy by)
      : timeline_(timeline), view_(view), by_(by) {}

  void add(const Lane& lane) {
    const auto end = static_cast<TimeNs>(view_.endNs());
    const auto step = std::max<TimeNs>(1, static_cast<TimeNs>(kStepPx * view_.ns_per_px));
    auto at = static_cast<TimeNs>(view_.start_ns);
    while (at < end) {
      const std::size_t i = lane.firstReaching(at);
      if (i >= lane.size() || lane.startNs(i) >= end) return;
      const TimeNs from = std::max(lane.startNs(i), at), to = std::min(lane.endNs(i), end);
      count(lane, i, static_cast<double>(to - from) / view_.ns_per_px);
      if (__builtin_add_overflow(from, step, &at)) return;
      at = std::max(at, to);
    }
  }

  std::vector<LegendEntry> finish(std::size_t most) const {
    std::vector<LegendEntry> entries;
    for (const auto& [key, found] : found_) {
      if (!key.of_name) {
        entries.push_back({found.color, meaningOf(found.color), "", found.pixels});
        continue;
      }
      const std::string& group = timeline_.groupName(found.name);
      // Of names with numbers: what they have in common.
      const std::string& label =
          timeline_.name(found.name) == timeline_.label(found.name) ? group : timeline_.label(found.name);
      entries.push_back({found.color, label.empty() ? "(no name)" : label, group, found.pixels});
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const LegendEntry& a, const LegendEntry& b) { return a.pixels > b.pixels; });
    if (entries.size() > most) entries.resize(most);
    return entries;
  }

 private:
  void count(const Lane& lane, std::size_t i, double pixels) {
    const ColorIndex color = lane.color(i);
    const bool of_name = by_ == ColorBy::name && showsName(color);
    const Key key{of_name, of_name ? timeline_.firstOfGroup(lane.name(i))
                                   : static_cast<std::uint32_t>(categoryOf(color))};
    Found& found = found_[key];
    if (found.pixels == 0) {
      found.name = lane.name(i);
      found.color = of_name ? color : static_cast<ColorIndex>(categoryOf(color) * kNameHues);
    }
    // What covers little of a pixel is seen, too.
    found.pixels += std::max(pixels, 0.25);
  }

  const Timeline& timeline_;
  const View& view_;
  ColorBy by_;
  std::map<Key, Found> found_;
};

}  // namespace

std::vector<LegendEntry> legendOf(const Timeline& timeline, const std::vector<EventRef>& lanes,
                                  const View& view, ColorBy by, std::size_t most) {
  Legend legend(timeline, view, by);
  for (const EventRef& at : lanes) legend.add(timeline.tracks[at.track].lanes[at.lane]);
  return legend.finish(most);
}

}  // namespace pitwall::gui
