#include "gui/timeline/timeline.h"

#include <fmt/core.h>

#include <algorithm>

#include "db/try.h"
#include "gui/timeline/aggregate.h"
#include "gui/timeline/lane_worker.h"
#include "gui/timeline/palette.h"
#include "gui/timeline/timeline_cache.h"

namespace pitwall::gui {
namespace {

// Very many short tracks are read so many at a time under one lock: others may write in between.
constexpr std::size_t kTracksHeld = 256;
// Fewer events are aggregated at once.
constexpr std::size_t kLeastClassed = 1'000'000;

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
    case TrackKind::stream: return 0;  // device work is the most frequent interest
    case TrackKind::thread: return 1;
    case TrackKind::counter: return 2;
  }
  return 3;
}

// Looks of events: colours by kind, phase and name, read ten million times.
class Looks {
 public:
  explicit Looks(std::span<const OperatorFacts> facts) {
    phases_.push_back(Phase::none);
    for (const OperatorFacts& of : facts) phases_.push_back(of.phase);
    for (int kind = 0; kind < kKinds; ++kind) {
      for (int phase = 0; phase < kPhases; ++phase)
        colors_[kind][phase] = colorOf(static_cast<EventKind>(kind), static_cast<Phase>(phase), 0);
    }
  }
  std::uint32_t of(std::int64_t name, std::int64_t kind, std::int64_t op) {
    const auto id = static_cast<std::uint32_t>(name);
    if (id >= used_.size()) used_.resize(std::max<std::size_t>(id + 1, 2 * used_.size()));
    ++used_[id];
    const Phase phase = phases_[static_cast<std::size_t>(op)];
    const ColorIndex color =
        colors_[std::min<std::size_t>(static_cast<std::size_t>(kind), kKinds - 1)][static_cast<int>(phase)];
    return Lane::lookOf(id, static_cast<ColorIndex>(color + (id & 1)));
  }
  // Number of events with the name, by StringId.value.
  const std::vector<std::uint64_t>& used() const { return used_; }

 private:
  static constexpr int kKinds = 16, kPhases = 8;
  std::vector<Phase> phases_;  // by OperatorId.value
  ColorIndex colors_[kKinds][kPhases] = {};
  std::vector<std::uint64_t> used_;
};

// What loading has done, of all events and samples.
struct Progress {
  const LoadControl& control;
  double all = 1, done = 0;

  bool stopped() const { return control.cancel != nullptr && control.cancel->load(); }
  void add(std::size_t some) {
    done += static_cast<double>(some);
    if (control.progress) control.progress(std::min(1.0, done / all));
  }
};

Status loadTrack(Trace& trace, TimelineTrack& track, Looks& looks, LaneWorker& worker, Progress& progress) {
  if (track.kind == TrackKind::counter) {
    auto samples = PITWALL_TRY(trace.counters(track.id));
    track.counter = CounterSeries(samples);
    track.events = track.counter.size();
    return {};
  }
  LaneBuilder builder;
  builder.reserve(track.events);  // as the file says
  track.events = 0;
  Status status = trace.eventColumns({.track = track.id, .fields = kStart | kDur | kName | kKind | kOperator},
                                     [&](const EventSpans& spans) {
                                       for (std::size_t i = 0; i < spans.size; ++i)
                                         builder.add(spans.start_ns[i], spans.dur_ns[i],
                                                     looks.of(spans.name[i], spans.kind[i], spans.op[i]));
                                       track.events += spans.size;
                                       progress.add(spans.size);
                                       return !progress.stopped();
                                     });
  PITWALL_TRY(status);
  worker.add(track, std::move(builder));
  return {};
}

// How many events each track has, so that nothing grows while it is read.
Status countEvents(Trace& trace, Timeline& timeline, Progress& progress) {
  auto rows =
      PITWALL_TRY(trace.query("SELECT track_id, sum(event_count) FROM event_chunk GROUP BY track_id"));
  for (const auto& row : rows.rows) {
    const TrackId id{static_cast<std::uint32_t>(std::get<std::int64_t>(row[0]))};
    const auto count = static_cast<std::size_t>(std::get<std::int64_t>(row[1]));
    // Tracks are still in the order of their ids.
    const auto track = std::ranges::lower_bound(timeline.tracks, id.value, {},
                                                [](const TimelineTrack& t) { return t.id.value; });
    if (track == timeline.tracks.end() || track->id != id) continue;
    track->events = count;
    progress.all += static_cast<double>(count);
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
    // Numbers of stacks are no values to draw.
    if (tracks[i].kind == TrackKind::counter && tracks[i].unit == kStackUnit) continue;
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

void takeNames(const Trace& trace, std::vector<std::uint64_t> used, Timeline& timeline) {
  std::size_t count = used.size();
  while (count > 1 && used[count - 1] == 0) --count;
  timeline.names.assign(std::max<std::size_t>(1, count), "");
  for (std::size_t id = 1; id < count; ++id) {
    if (used[id] != 0) timeline.names[id] = trace.string(StringId{static_cast<std::uint32_t>(id)});
  }
  used.resize(timeline.names.size());
  timeline.name_counts = std::move(used);
}

}  // namespace

std::vector<Lane> lanesOf(const std::vector<Event>& events, std::span<const OperatorFacts> facts) {
  LaneBuilder builder;
  builder.reserve(events.size());
  for (const Event& event : events) {
    const Phase phase = event.op ? facts[event.op.value - 1].phase : Phase::none;
    const ColorIndex color = colorOf(event.kind, phase, event.name.value);
    builder.add(event.start_ns, event.dur_ns, Lane::lookOf(event.name.value, color));
  }
  return builder.finish();
}

Result<std::shared_ptr<const Timeline>> loadTimeline(Trace& trace, const LoadControl& control) {
  auto timeline = std::make_shared<Timeline>();
  describe(trace, *timeline);
  const auto identity = control.cache_folder.empty() ? std::nullopt : traceIdentity(trace);
  Looks looks(trace.operatorFacts());
  std::vector<std::uint64_t> cached_names;
  timeline->from_cache =
      identity && readTimelineCache(control.cache_folder, *identity, *timeline, cached_names);
  Progress progress{control};
  PITWALL_TRY(countEvents(trace, *timeline, progress));
  LaneWorker worker;
  std::shared_ptr<void> hold;
  for (TimelineTrack& track : timeline->tracks) {
    if (timeline->tracks.size() > kTracksHeld && track.id.value % kTracksHeld == 1) {
      hold.reset();
      hold = trace.hold();
    }
    const bool is_there = timeline->from_cache && track.kind != TrackKind::counter;
    Status status = is_there ? Status() : loadTrack(trace, track, looks, worker, progress);
    if (progress.stopped()) return fail(ErrorCode::cancelled, "loading " + timeline->path + " was stopped");
    PITWALL_TRY(status);
  }
  worker.wait();
  bool any = false;
  for (const TimelineTrack& track : timeline->tracks) {
    if (track.kind != TrackKind::counter) timeline->events += track.events;
    widen(*timeline, track, any);
  }
  takeNames(trace, timeline->from_cache ? cached_names : looks.used(), *timeline);
  if (timeline->events >= kLeastClassed && timeline->classes.empty())
    timeline->classes = classesOfAll(*timeline);
  for (const IterationMark& mark : timeline->iterations) {
    timeline->begin_ns = any ? std::min(timeline->begin_ns, mark.time_ns) : mark.time_ns;
    timeline->end_ns = any ? std::max(timeline->end_ns, mark.time_ns) : mark.time_ns;
    any = true;
  }
  sortTracks(timeline->tracks);
  return std::shared_ptr<const Timeline>(std::move(timeline));
}

}  // namespace pitwall::gui
