#include "analyzer/report_timeline.h"

#include <algorithm>
#include <utility>

#include "analyzer/excerpt/home_window.h"
#include "analyzer/excerpt/items.h"
#include "analyzer/excerpt/rows.h"
#include "analyzer/excerpt/windows.h"
#include "db/try.h"

namespace pitwall {
namespace {

using excerpt::Items;
using Place = ReportTimeline::Place;

constexpr TimeNs kShortestStep = 3000;  // parts of the shown time; shorter steps are merged
constexpr TimeNs kShortestMargin = 10'000;

struct PlaceFinder {
  const Trace& trace;
  const std::vector<TrackId>& tracks;
  const Items& items;
  const ReportTimeline& timeline;

  std::optional<std::size_t> rowOf(const EvidencePlace& place) const {
    if (place.device.empty() && place.thread.empty()) return std::nullopt;
    for (std::size_t row = 0; row < tracks.size(); ++row) {
      if (excerpt::isOn(place, trace, tracks[row])) return row;
    }
    return std::nullopt;
  }

  // The longest event of the place's operator or name in the part that is shown first.
  std::optional<Place> longest(const EvidencePlace& place) const {
    std::optional<Place> found;
    for (const auto& window : timeline.windows) {
      if (window.begin_ns < timeline.home_ns || window.end_ns > timeline.home_end_ns) continue;
      for (const auto& lane : window.lanes) {
        if (!excerpt::isOn(place, trace, tracks[lane.row])) continue;
        for (const auto& piece : lane.pieces) {
          if ((found && piece.dur_ns <= found->dur_ns) || !items.is(piece.item, place.op, place.name))
            continue;
          found = Place{0, 0, piece.start_ns, piece.dur_ns, lane.row};
        }
      }
    }
    return found;
  }

  std::optional<Place> find(const EvidencePlace& place) const {
    if (place.start_ns) {
      if (*place.start_ns < timeline.begin_ns || *place.start_ns > timeline.end_ns) return std::nullopt;
      const TimeNs rest = timeline.end_ns - *place.start_ns;
      return Place{0, 0, *place.start_ns, std::clamp<TimeNs>(place.dur_ns.value_or(0), 0, rest),
                   rowOf(place)};
    }
    if (place.op != 0 || !place.name.empty()) return longest(place);
    const auto row = rowOf(place);
    if (!row) return std::nullopt;
    return Place{0, 0, timeline.home_ns, timeline.home_end_ns - timeline.home_ns, row};
  }
};

void findPlaces(const Report& report, const PlaceFinder& finder, ReportTimeline& timeline) {
  for (std::size_t f = 0; f < report.findings.size(); ++f) {
    const auto& places = report.findings[f].evidence.places;
    for (std::size_t e = 0; e < places.size(); ++e) {
      if (!places[e].known()) continue;
      auto found = finder.find(places[e]);
      if (!found) continue;
      found->finding = f;
      found->evidence = e;
      timeline.places.push_back(*found);
    }
  }
}

// A place is shown with what surrounds it.
Status readPlaces(const ReportTimelineLimits& limits, excerpt::WindowReader& reader,
                  ReportTimeline& timeline) {
  for (const Place& place : timeline.places) {
    if (timeline.windows.size() > limits.place_windows) return {};
    const TimeNs margin =
        std::max({place.dur_ns / 2, (timeline.home_end_ns - timeline.home_ns) / 10, kShortestMargin});
    PITWALL_TRY(
        reader.add(place.start_ns - margin, place.start_ns + place.dur_ns + margin, limits.place_pieces));
  }
  return {};
}

Status readPath(Trace& trace, const std::vector<TrackId>& tracks, Items& items, ReportTimeline& timeline) {
  const SqlParameter window[] = {{":begin", timeline.home_ns}, {":end", timeline.home_end_ns}};
  const auto steps = PITWALL_TRY(
      trace.query("SELECT start_ns, dur_ns, part, title, ifnull(track_id, 0) FROM analysis_critical_step "
                  "WHERE start_ns < :end AND start_ns + dur_ns > :begin ORDER BY start_ns",
                  window));
  const TimeNs shortest = (timeline.home_end_ns - timeline.home_ns) / kShortestStep;
  TimeNs longest = 0;
  auto& path = timeline.critical_path;
  for (const auto& row : steps.rows) {
    const auto number = [&row](std::size_t column) { return std::get<std::int64_t>(row[column]); };
    ReportTimeline::Step step;
    step.start_ns = number(0);
    step.dur_ns = number(1);
    step.item = items.ofStep(std::get<std::string>(row[2]), std::get<std::string>(row[3]));
    const auto track =
        std::find(tracks.begin(), tracks.end(), TrackId{static_cast<std::uint32_t>(number(4))});
    if (track != tracks.end()) step.row = static_cast<std::size_t>(track - tracks.begin());
    if (path.empty() || step.dur_ns >= shortest || path.back().dur_ns >= shortest) {
      path.push_back(step);
      longest = step.dur_ns;
      continue;
    }
    auto& merged = path.back();
    merged.dur_ns = step.start_ns + step.dur_ns - merged.start_ns;
    ++merged.count;
    if (step.dur_ns <= longest) continue;
    longest = step.dur_ns;
    merged.item = step.item;
    merged.row = step.row;
  }
  return {};
}

// Items of events that were merged into others go.
void keepUsedItems(std::vector<ReportTimeline::Item> items, ReportTimeline& timeline) {
  std::vector<std::size_t> place(items.size(), SIZE_MAX);
  const auto use = [&](std::size_t& item) {
    if (place[item] == SIZE_MAX) {
      place[item] = timeline.items.size();
      timeline.items.push_back(std::move(items[item]));
    }
    item = place[item];
  };
  for (auto& window : timeline.windows)
    for (auto& lane : window.lanes)
      for (auto& piece : lane.pieces) use(piece.item);
  for (auto& step : timeline.critical_path) use(step.item);
}

}  // namespace

Result<ReportTimeline> reportTimeline(Trace& trace, const Report& report,
                                      const ReportTimelineLimits& limits) {
  ReportTimeline timeline;
  if (report.timeline_kind == "sums only") return timeline;
  const auto hold = trace.hold();
  PITWALL_TRY(excerpt::findHome(trace, report, limits, timeline));
  if (timeline.empty()) return timeline;
  auto chosen = PITWALL_TRY(excerpt::chooseRows(trace, report, timeline, limits));
  timeline.rows = std::move(chosen.rows);
  timeline.rows_left_out = chosen.left_out;
  Items items(trace);
  excerpt::WindowReader reader(trace, chosen.tracks, limits, items, timeline);
  PITWALL_TRY(reader.add(timeline.home_ns, timeline.home_end_ns, limits.home_pieces));
  findPlaces(report, {trace, chosen.tracks, items, timeline}, timeline);
  PITWALL_TRY(readPlaces(limits, reader, timeline));
  PITWALL_TRY(readPath(trace, chosen.tracks, items, timeline));
  keepUsedItems(std::move(items).take(), timeline);
  return timeline;
}

}  // namespace pitwall
