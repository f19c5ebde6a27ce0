#include "gui/models/critical_steps.h"

#include <algorithm>

#include "db/try.h"

namespace pitwall::gui {
namespace {

// A step is a part of the innermost event around it: of the lowest lane.
std::optional<EventRef> eventAround(const Timeline& timeline, std::size_t track, TimeNs from, TimeNs to) {
  const auto& lanes = timeline.tracks[track].lanes;
  for (std::size_t l = lanes.size(); l-- > 0;) {
    const std::size_t i = lanes[l].firstReaching(from);
    if (i < lanes[l].size() && lanes[l].startNs(i) <= from && lanes[l].endNs(i) >= to)
      return EventRef{track, l, i};
  }
  return std::nullopt;
}

}  // namespace

const std::vector<std::uint32_t>& CriticalSteps::ofLane(std::size_t track, std::size_t lane) const {
  static const std::vector<std::uint32_t> kNone;
  const auto found = of_lane.find({track, lane});
  return found == of_lane.end() ? kNone : found->second;
}

std::optional<std::size_t> CriticalSteps::stepAt(TimeNs time) const {
  const auto after = std::ranges::upper_bound(steps, time, {}, &CriticalStep::from);
  if (after == steps.begin() || (after - 1)->to <= time) return std::nullopt;
  return static_cast<std::size_t>(after - 1 - steps.begin());
}

std::optional<std::size_t> CriticalSteps::stepOf(const EventRef& event) const {
  const auto found = std::ranges::find(steps, std::optional(event), &CriticalStep::event);
  if (found == steps.end()) return std::nullopt;
  return static_cast<std::size_t>(found - steps.begin());
}

std::optional<std::size_t> CriticalSteps::nextEvent(std::size_t from, bool forward) const {
  for (std::size_t i = from; forward ? i + 1 < steps.size() : i > 0;) {
    i += forward ? std::size_t{1} : static_cast<std::size_t>(-1);
    if (steps[i].event && steps[i].event != steps[from].event) return i;
  }
  return std::nullopt;
}

Result<std::shared_ptr<const CriticalSteps>> criticalSteps(Trace& trace, const Timeline& timeline) {
  auto made = std::make_shared<CriticalSteps>();
  const SqlRows rows = PITWALL_TRY(trace.query(
      "SELECT start_ns, dur_ns, part, title, track_id FROM analysis_critical_step ORDER BY start_ns"));
  for (const auto& row : rows.rows) {
    CriticalStep step;
    step.from = std::get<std::int64_t>(row[0]);
    step.to = step.from + std::get<std::int64_t>(row[1]);
    step.part = std::get<std::string>(row[2]);
    step.title = std::get<std::string>(row[3]);
    if (const auto* id = std::get_if<std::int64_t>(&row[4])) {
      const auto track = trackWithId(timeline, static_cast<std::uint64_t>(*id));
      if (track) step.event = eventAround(timeline, *track, step.from, step.to);
    }
    if (step.event)
      made->of_lane[{step.event->track, step.event->lane}].push_back(
          static_cast<std::uint32_t>(step.event->index));
    made->steps.push_back(std::move(step));
  }
  for (auto& [lane, events] : made->of_lane) {
    std::ranges::sort(events);
    events.erase(std::ranges::unique(events).begin(), events.end());
  }
  return std::shared_ptr<const CriticalSteps>(std::move(made));
}

}  // namespace pitwall::gui
