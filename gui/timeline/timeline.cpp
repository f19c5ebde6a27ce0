#include "gui/timeline/timeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "gui/timeline/palette.h"

namespace pitwall::gui {
namespace {

std::string processTitle(const ProcessInfo& process, bool several_ranks) {
  const std::string name = process.name.empty() ? "process" : process.name;
  const std::string pid = process.pid == 0 ? "" : fmt::format(" ({})", process.pid);
  return several_ranks ? fmt::format("rank {}: {}{}", process.rank, name, pid) : name + pid;
}

std::string trackTitle(const Trace& trace, const TrackInfo& track, std::size_t index) {
  std::string title = track.name;
  if (track.kind == TrackKind::thread && track.thread) {
    const ThreadInfo& thread = trace.threads()[track.thread.value - 1];
    if (title.empty()) title = thread.name;
    if (title.empty()) title = fmt::format("thread {}", thread.tid);
  }
  if (track.device) {
    const DeviceInfo& device = trace.devices()[track.device.value - 1];
    const std::string prefix = fmt::format("{} {}", device.kind, device.index);
    if (title.find(prefix) == std::string::npos) title = prefix + " " + title;
  }
  if (track.kind == TrackKind::counter && !track.unit.empty()) title += fmt::format(" ({})", track.unit);
  return title.empty() ? fmt::format("track {}", index + 1) : title;
}

int orderOf(TrackKind kind) {
  switch (kind) {
    case TrackKind::stream: return 0;  // what a device does is what people look for first
    case TrackKind::thread: return 1;
    case TrackKind::counter: return 2;
  }
  return 3;
}

// The first lane that is free at `start`; the last one when all are taken and there may be no more.
std::size_t freeLane(std::vector<TimeNs>& ends, TimeNs start) {
  for (std::size_t lane = 0; lane < ends.size(); ++lane) {
    if (ends[lane] <= start) return lane;
  }
  if (ends.size() < kMostLanes) ends.push_back(start);
  return ends.size() - 1;
}

Status loadTrack(Trace& trace, TimelineTrack& track) {
  if (track.kind == TrackKind::counter) {
    auto samples = trace.counters(track.id);
    if (!samples.has_value()) return fail(samples.error());
    track.counter = CounterSeries(*samples);
    track.events = track.counter.size();
    return {};
  }
  auto events = trace.events(track.id);
  if (!events.has_value()) return fail(events.error());
  track.events = events->size();
  track.lanes = lanesOf(*events, trace.operatorFacts());
  for (Lane& lane : track.lanes) {
    lane.shrink();
    track.pyramids.emplace_back(lane);
  }
  return {};
}

void widen(Timeline& timeline, const TimelineTrack& track, bool& any) {
  const auto take = [&](TimeNs from, TimeNs to) {
    timeline.begin_ns = any ? std::min(timeline.begin_ns, from) : from;
    timeline.end_ns = any ? std::max(timeline.end_ns, to) : to;
    any = true;
  };
  for (const Lane& lane : track.lanes) {
    if (!lane.empty()) take(lane.startNs(0), lane.endNs(lane.size() - 1));
  }
  if (track.counter.size() > 0) take(track.counter.timeNs(0), track.counter.timeNs(track.counter.size() - 1));
}

void describe(const Trace& trace, Timeline& timeline) {
  timeline.path = trace.path();
  timeline.complete = trace.isComplete();
  timeline.iterations.assign(trace.iterations().begin(), trace.iterations().end());
  timeline.losses.assign(trace.losses().begin(), trace.losses().end());
  const auto processes = trace.processes();
  const bool several_ranks = std::any_of(processes.begin(), processes.end(),
                                         [&](const ProcessInfo& p) { return p.rank != processes[0].rank; });
  for (const ProcessInfo& process : processes)
    timeline.processes.push_back({processTitle(process, several_ranks)});
  const auto tracks = trace.tracks();
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    TimelineTrack track;
    track.id = TrackId{static_cast<std::uint32_t>(i + 1)};
    track.kind = tracks[i].kind;
    track.title = trackTitle(trace, tracks[i], i);
    track.unit = tracks[i].unit;
    if (!tracks[i].process) {  // a file that names none
      if (timeline.processes.size() == processes.size()) timeline.processes.push_back({"no process"});
      track.process = timeline.processes.size() - 1;
    } else {
      track.process = tracks[i].process.value - 1;
    }
    timeline.tracks.push_back(std::move(track));
  }
}

void sortTracks(std::vector<TimelineTrack>& tracks) {
  std::stable_sort(tracks.begin(), tracks.end(), [](const TimelineTrack& a, const TimelineTrack& b) {
    if (a.process != b.process) return a.process < b.process;
    if (a.kind != b.kind) return orderOf(a.kind) < orderOf(b.kind);
    return a.kind == TrackKind::thread && a.events > b.events;
  });
}

// Names that no event of the timeline carries are not needed, but their ids are: the list is as long as the
// greatest.
Status readNames(Trace& trace, Timeline& timeline) {
  timeline.names.assign(1, "");
  auto rows = trace.query("SELECT id, text FROM string ORDER BY id");
  if (!rows.has_value()) return fail(rows.error());
  for (auto& row : rows->rows) {
    const auto id = static_cast<std::size_t>(std::get<std::int64_t>(row[0]));
    if (id >= timeline.names.size()) timeline.names.resize(id + 1);
    timeline.names[id] = std::move(std::get<std::string>(row[1]));
  }
  return {};
}

}  // namespace

std::vector<Lane> lanesOf(const std::vector<Event>& events, std::span<const OperatorFacts> facts) {
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) {
    if (events[a].start_ns != events[b].start_ns) return events[a].start_ns < events[b].start_ns;
    return events[a].dur_ns > events[b].dur_ns;  // the one around the others comes first
  };
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::stable_sort(order.begin(), order.end(), before);

  std::vector<Lane> lanes;
  std::vector<TimeNs> ends;
  for (const std::size_t i : order) {
    const Event& event = events[i];
    const std::size_t at = freeLane(ends, event.start_ns);
    if (at == lanes.size()) lanes.emplace_back();
    const Phase phase = event.op ? facts[event.op.value - 1].phase : Phase::none;
    const TimeNs start = std::max(event.start_ns, ends[at]);
    const TimeNs end = std::max(start, event.start_ns + event.dur_ns);
    lanes[at].append(start, end - start, event.name.value, colorOf(event.kind, phase, event.name.value));
    ends[at] = end;
  }
  return lanes;
}

Result<std::shared_ptr<const Timeline>> loadTimeline(Trace& trace, const LoadControl& control) {
  auto timeline = std::make_shared<Timeline>();
  describe(trace, *timeline);
  if (Status status = readNames(trace, *timeline); !status.has_value()) return fail(status.error());
  bool any = false;
  for (std::size_t i = 0; i < timeline->tracks.size(); ++i) {
    if (control.cancel != nullptr && control.cancel->load())
      return fail(ErrorCode::cancelled, "loading " + timeline->path + " was stopped");
    TimelineTrack& track = timeline->tracks[i];
    if (Status status = loadTrack(trace, track); !status.has_value()) return fail(status.error());
    if (track.kind != TrackKind::counter) timeline->events += track.events;
    widen(*timeline, track, any);
    if (control.progress)
      control.progress(static_cast<double>(i + 1) / static_cast<double>(timeline->tracks.size()));
  }
  for (const IterationMark& mark : timeline->iterations) {
    timeline->begin_ns = any ? std::min(timeline->begin_ns, mark.time_ns) : mark.time_ns;
    timeline->end_ns = any ? std::max(timeline->end_ns, mark.time_ns) : mark.time_ns;
    any = true;
  }
  sortTracks(timeline->tracks);
  return std::shared_ptr<const Timeline>(std::move(timeline));
}

}  // namespace pitwall::gui
