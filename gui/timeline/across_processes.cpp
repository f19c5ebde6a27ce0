#include "gui/timeline/across_processes.h"

#include <cstdlib>
#include <limits>

namespace pitwall::gui {
namespace {

// Of a lane, events of one name by the distance of their ends from a time.
class Nearest {
 public:
  Nearest(std::uint32_t name, TimeNs end_ns) : name_(name), end_ns_(end_ns) {}

  void look(const Timeline& timeline, std::size_t track, std::size_t number) {
    const Lane& lane = timeline.tracks[track].lanes[number];
    // Later events of a lane end later, so that the nearest one is the first of the name on either side.
    const std::size_t middle = lane.firstReaching(end_ns_);
    for (std::size_t i = middle; i < lane.size() && lane.startNs(i) - end_ns_ < least_ns_; ++i) {
      if (take(lane, {track, number, i})) break;
    }
    for (std::size_t i = middle; i-- > 0 && end_ns_ - lane.endNs(i) < least_ns_;) {
      if (take(lane, {track, number, i})) break;
    }
  }
  bool found() const { return least_ns_ < std::numeric_limits<TimeNs>::max(); }
  const EventRef& event() const { return event_; }

 private:
  bool take(const Lane& lane, const EventRef& event) {
    if (lane.name(event.index) != name_) return false;
    const TimeNs distance = std::abs(lane.endNs(event.index) - end_ns_);
    if (distance < least_ns_) least_ns_ = distance, event_ = event;
    return true;
  }

  std::uint32_t name_;
  TimeNs end_ns_, least_ns_ = std::numeric_limits<TimeNs>::max();
  EventRef event_;
};

}  // namespace

std::vector<EventRef> sameInAllProcesses(const Timeline& timeline, const EventRef& event) {
  const TimelineTrack& own = timeline.tracks[event.track];
  const Lane& lane = own.lanes[event.lane];
  std::vector<Nearest> nearest(timeline.processes.size(), {lane.name(event.index), lane.endNs(event.index)});
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    const TimelineTrack& track = timeline.tracks[t];
    if (track.process == own.process || track.kind != own.kind || track.process >= nearest.size()) continue;
    for (std::size_t l = 0; l < track.lanes.size(); ++l) nearest[track.process].look(timeline, t, l);
  }
  std::vector<EventRef> events;
  for (std::size_t p = 0; p < nearest.size(); ++p) {
    if (p == own.process) events.push_back(event);
    if (p != own.process && nearest[p].found()) events.push_back(nearest[p].event());
  }
  return events;
}

}  // namespace pitwall::gui
