#include "gui/models/evidence_events.h"

#include <algorithm>

#include "db/try.h"
#include "gui/timeline/name_groups.h"

namespace pitwall::gui {
namespace {

constexpr std::size_t kMostEvents = 2000;

// Keeps the longest events.
class Longest {
 public:
  explicit Longest(const Timeline& timeline) {
    // As the analysis has it: not the first two iterations, nor the last.
    const auto& marks = timeline.iterations;
    if (marks.size() > 4) {
      from_ = marks[2].time_ns;
      to_ = marks[marks.size() - 2].time_ns;
    }
  }

  void add(const EventRef& event, TimeNs start, TimeNs dur) {
    found_.push_back({event, start, dur});
    if (found_.size() >= 2 * kMostEvents) shorten();
  }
  void finish(EvidenceEvents& made) {
    shorten();
    for (const Found& one : found_) {
      made.events.push_back(one.event);
      if (!made.longest && one.start >= from_ && one.start < to_) made.longest = one.event;
    }
    if (!made.longest && !found_.empty()) made.longest = found_.front().event;
  }

 private:
  struct Found {
    EventRef event;
    TimeNs start, dur;
  };
  // Those in steady iterations are not displaced by others.
  void shorten() {
    const auto steady = [&](const Found& one) { return one.start >= from_ && one.start < to_; };
    std::stable_sort(found_.begin(), found_.end(), [&](const Found& a, const Found& b) {
      return steady(a) != steady(b) ? steady(a) : a.dur > b.dur;
    });
    if (found_.size() > kMostEvents) found_.resize(kMostEvents);
  }

  TimeNs from_ = INT64_MIN, to_ = INT64_MAX;
  std::vector<Found> found_;
};

// By StringId.value: the events called so; where there is none, those whose names differ in numbers only.
std::vector<bool> namesOf(const Timeline& timeline, const std::string& name) {
  std::vector<bool> names(timeline.names.size(), false);
  bool any = false;
  for (std::size_t id = 1; id < names.size(); ++id) any |= names[id] = timeline.names[id] == name;
  if (any) return names;
  const std::string group = groupOfName(name);
  for (std::size_t id = 1; id < names.size(); ++id)
    names[id] = !timeline.names[id].empty() && groupOfName(timeline.names[id]) == group;
  return names;
}

void addNamed(const Timeline& timeline, const std::string& name, const std::vector<std::size_t>& tracks,
              const std::atomic<bool>& cancel, Longest& longest) {
  const std::vector<bool> names = namesOf(timeline, name);
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    if (!tracks.empty() && !std::binary_search(tracks.begin(), tracks.end(), t)) continue;
    const auto& lanes = timeline.tracks[t].lanes;
    for (std::size_t l = 0; l < lanes.size() && !cancel.load(); ++l) {
      for (std::size_t i = 0; i < lanes[l].size(); ++i) {
        if (names[lanes[l].name(i)]) longest.add({t, l, i}, lanes[l].startNs(i), lanes[l].durNs(i));
      }
    }
  }
}

Status addExecutions(Trace& trace, const Timeline& timeline, std::int64_t op, const std::atomic<bool>& cancel,
                     Longest& longest) {
  for (std::size_t t = 0; t < timeline.tracks.size() && !cancel.load(); ++t) {
    if (timeline.tracks[t].lanes.empty()) continue;
    Status status = trace.eventColumns(
        {.track = timeline.tracks[t].id, .fields = kStart | kDur | kOperator}, [&](const EventSpans& spans) {
          for (std::size_t i = 0; i < spans.size; ++i) {
            if (spans.op[i] != op) continue;
            const auto event = eventAt(timeline, t, spans.start_ns[i], spans.dur_ns[i]);
            if (event) longest.add(*event, spans.start_ns[i], spans.dur_ns[i]);
          }
          return !cancel.load();
        });
    PITWALL_TRY(status);
  }
  return {};
}

}  // namespace

std::vector<std::size_t> evidenceTracks(const Timeline& timeline, const EvidencePlace& place) {
  std::vector<std::size_t> tracks;
  if (place.device.empty() && place.thread.empty() && place.counter.empty() && !place.pid) return tracks;
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    const TimelineTrack& track = timeline.tracks[t];
    const TimelineProcess& process = timeline.processes[track.process];
    if (place.pid && process.pid != *place.pid) continue;
    if (place.rank && process.rank != *place.rank) continue;
    const bool stream = track.kind == TrackKind::stream && track.device == place.device;
    if (!place.device.empty() && !stream) continue;
    const bool thread =
        track.kind == TrackKind::thread && (track.thread_name == place.thread || track.title == place.thread);
    if (!place.thread.empty() && !thread) continue;
    const bool counter =
        track.kind == TrackKind::counter && track.title.find(place.counter) != std::string::npos;
    if (!place.counter.empty() && !counter) continue;
    tracks.push_back(t);
  }
  return tracks;
}

Result<EvidenceEvents> evidenceEvents(Trace& trace, const Timeline& timeline, const EvidencePlace& place,
                                      const std::atomic<bool>& cancel) {
  EvidenceEvents made;
  made.tracks = evidenceTracks(timeline, place);
  if (place.start_ns) {
    made.range = {*place.start_ns, *place.start_ns + place.dur_ns.value_or(0)};
    return made;
  }
  Longest longest(timeline);
  if (place.op != 0) {
    PITWALL_TRY(addExecutions(trace, timeline, place.op, cancel, longest));
  } else if (!place.name.empty()) {
    addNamed(timeline, place.name, made.tracks, cancel, longest);
  }
  longest.finish(made);
  return made;
}

}  // namespace pitwall::gui
