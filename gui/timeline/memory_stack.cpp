#include "gui/timeline/memory_stack.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace pitwall::gui {
namespace {

constexpr std::string_view kLive = "memory live: ";

struct TagCounter {
  std::string tag;
  const CounterSeries* counter;
};

// The device's part of "gpu/0 weights", empty without one, and the tag; no tag where the name is a device alone.
std::pair<std::string, std::string> deviceAndTag(std::string_view name) {
  const std::size_t blank = name.rfind(' ');
  std::string tag(blank == name.npos ? name : name.substr(blank + 1));
  if (tag.find('/') != tag.npos) tag.clear();
  return {std::string(blank == name.npos ? "" : name.substr(0, blank)), std::move(tag)};
}

// Each tag's samples on top of the tags before it, at each time at which one of them changes.
std::vector<MemoryLayer> layersOf(const std::vector<TagCounter>& tags) {
  std::vector<MemoryLayer> layers;
  std::vector<CounterSample> below;
  for (const TagCounter& tag : tags) {
    std::vector<CounterSample> sum;
    sum.reserve(below.size() + tag.counter->size());
    std::size_t b = 0, c = 0;
    double under = 0, own = 0;
    while (b < below.size() || c < tag.counter->size()) {
      const bool from_below =
          c == tag.counter->size() || (b < below.size() && below[b].time_ns <= tag.counter->timeNs(c));
      const TimeNs at = from_below ? below[b].time_ns : tag.counter->timeNs(c);
      while (b < below.size() && below[b].time_ns == at) under = below[b++].value;
      while (c < tag.counter->size() && tag.counter->timeNs(c) == at) own = tag.counter->value(c++);
      if (sum.empty() || sum.back().value != under + own) sum.push_back({at, under + own});
    }
    layers.push_back({tag.tag, CounterSeries(sum)});
    below = std::move(sum);
  }
  return layers;
}

}  // namespace

void addMemoryStacks(const Trace& trace, Timeline& timeline) {
  const auto infos = trace.tracks();
  std::map<std::pair<std::size_t, std::string>, std::vector<TagCounter>> devices;
  for (const TimelineTrack& track : timeline.tracks) {
    if (track.kind != TrackKind::counter || track.id.value > infos.size() || track.counter.size() == 0)
      continue;
    const std::string& name = infos[track.id.value - 1].name;
    if (track.unit != "bytes" || !name.starts_with(kLive)) continue;
    auto [device, tag] = deviceAndTag(std::string_view(name).substr(kLive.size()));
    if (!tag.empty()) devices[{track.process, device}].push_back({std::move(tag), &track.counter});
  }
  std::vector<TimelineTrack> rows;
  for (auto& [of, tags] : devices) {
    if (tags.size() < 2) continue;
    std::ranges::stable_sort(tags, [](const TagCounter& a, const TagCounter& b) {
      return a.counter->greatest() > b.counter->greatest();
    });
    TimelineTrack row;
    row.id = TrackId{kMemoryRow + static_cast<std::uint32_t>(rows.size())};
    row.kind = TrackKind::counter;
    row.process = of.first;
    row.unit = "bytes";
    row.title = (of.second.empty() ? "" : of.second + " ") + "memory by tag (bytes)";
    auto layers = layersOf(tags);
    row.counter = layers.back().top;
    row.events = row.counter.size();
    row.memory = std::make_shared<const std::vector<MemoryLayer>>(std::move(layers));
    rows.push_back(std::move(row));
  }
  // Counters of the tracks are referred to until here.
  for (TimelineTrack& row : rows) timeline.tracks.push_back(std::move(row));
}

double ownValue(const std::vector<MemoryLayer>& layers, std::size_t layer, TimeNs time) {
  const auto valueAt = [&](std::size_t i) {
    const std::size_t at = layers[i].top.at(time);
    return at < layers[i].top.size() ? layers[i].top.value(at) : 0;
  };
  return layer == 0 ? valueAt(0) : valueAt(layer) - valueAt(layer - 1);
}

}  // namespace pitwall::gui
