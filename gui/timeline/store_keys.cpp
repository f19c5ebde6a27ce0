#include "gui/timeline/store_keys.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "db/try.h"

namespace pitwall::gui {
namespace {

constexpr std::string_view kOperators = "KVStore";  // begins the names of a store's operators

auto orderOf(const StoreEvent& event) { return std::tuple(event.start_ns, event.dur_ns); }

// By OperatorId.value: the place in `names`, plus one; 0 for other operators.
std::vector<std::uint32_t> namesByOperator(const Trace& trace, std::vector<std::string>& names) {
  std::vector<std::uint32_t> named{0};
  std::unordered_map<std::string, std::uint32_t> places;
  for (const OperatorFacts& facts : trace.operatorFacts()) {
    named.push_back(0);
    if (!facts.name.starts_with(kOperators) || facts.layer.empty()) continue;
    const auto [place, is_new] =
        places.try_emplace(facts.name + ' ' + facts.layer, static_cast<std::uint32_t>(names.size()));
    if (is_new) names.push_back(place->first);
    named.back() = place->second + 1;
  }
  return named;
}

}  // namespace

Status addStoreKeys(Trace& trace, Timeline& timeline) {
  const std::vector<std::uint32_t> named = namesByOperator(trace, timeline.store_names);
  if (timeline.store_names.empty()) return {};
  for (TimelineTrack& track : timeline.tracks) {
    if (track.lanes.empty() || track.id.value >= kThreadRow) continue;
    const auto take = [&](const EventSpans& spans) {
      for (std::size_t i = 0; i < spans.size; ++i) {
        const auto op = static_cast<std::size_t>(spans.op[i]);
        if (op < named.size() && named[op] != 0)
          track.store_events.push_back({spans.start_ns[i], spans.dur_ns[i], named[op] - 1});
      }
      return true;
    };
    PITWALL_TRY(trace.eventColumns({.track = track.id, .fields = kStart | kDur | kOperator}, take));
    std::ranges::sort(track.store_events, {}, orderOf);
  }
  return {};
}

std::uint32_t labelOf(const Timeline& timeline, const EventRef& event) {
  const TimelineTrack& track = timeline.tracks[event.track];
  const Lane& lane = track.lanes[event.lane];
  const std::tuple wanted(lane.startNs(event.index), lane.durNs(event.index));
  const auto found = std::ranges::lower_bound(track.store_events, wanted, {}, orderOf);
  const bool is_store = found != track.store_events.end() && orderOf(*found) == wanted &&
                        timeline.name(lane.name(event.index)).starts_with(kOperators);
  return is_store ? static_cast<std::uint32_t>(timeline.names.size()) + found->name : lane.name(event.index);
}

const std::string& fullNameOf(const Timeline& timeline, const EventRef& event) {
  const std::uint32_t label = labelOf(timeline, event);
  return label < timeline.names.size() ? timeline.name(label) : timeline.label(label);
}

}  // namespace pitwall::gui
