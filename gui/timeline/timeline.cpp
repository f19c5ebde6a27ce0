#include "gui/timeline/timeline.h"

#include <algorithm>

#include "db/try.h"
#include "gui/timeline/aggregate.h"
#include "gui/timeline/core_use.h"
#include "gui/timeline/lane_worker.h"
#include "gui/timeline/memory_stack.h"
#include "gui/timeline/palette.h"
#include "gui/timeline/store_keys.h"
#include "gui/timeline/thread_states.h"
#include "gui/timeline/timeline_cache.h"
#include "gui/timeline/track_rows.h"

namespace pitwall::gui {
namespace {

// Very many short tracks are read so many at a time under one lock: others may write in between.
constexpr std::size_t kTracksHeld = 256;
// Fewer events are aggregated at once.
constexpr std::size_t kLeastClassed = 1'000'000;

// Looks of events: colours by kind, phase and name, read ten million times.
class Looks {
 public:
  explicit Looks(const Trace& trace) : trace_(trace) {
    phases_.push_back(Phase::none);
    for (const OperatorFacts& of : trace.operatorFacts()) phases_.push_back(of.phase);
    for (int kind = 0; kind < kKinds; ++kind) {
      for (int phase = 0; phase < kPhases; ++phase) {
        for (const bool frame : {false, true})
          colors_[frame ? 1 : 0][kind][phase] =
              Lane::lookOf(0, colorOf(static_cast<EventKind>(kind), static_cast<Phase>(phase), 0, frame));
      }
    }
  }
  // Valid until the next call.
  std::span<const std::uint32_t> of(const EventSpans& events) {
    looks_.resize(events.size);
    for (std::size_t i = 0; i < events.size; ++i) {
      const auto id = static_cast<std::uint32_t>(events.name[i]);
      if (id >= names_.size()) names_.resize(std::max<std::size_t>(id + 1, 2 * names_.size()));
      Name& name = names_[id];
      if (name.used++ == 0) learn(id);
      const auto kind = std::min<std::size_t>(static_cast<std::size_t>(events.kind[i]), kKinds - 1);
      const Phase phase = phases_[static_cast<std::size_t>(events.op[i])];
      looks_[i] = name.look + colors_[name.frame][kind][static_cast<std::size_t>(phase)];
    }
    return looks_;
  }
  // Number of events with the name, by StringId.value.
  std::vector<std::uint64_t> used() const {
    std::vector<std::uint64_t> counts;
    for (const Name& name : names_) counts.push_back(name.used);
    return counts;
  }

 private:
  static constexpr int kKinds = 16, kPhases = 8;
  struct Name {
    std::uint64_t used = 0;
    std::uint32_t look = 0;   // with its hue as the colour
    std::uint32_t frame = 0;  // 1: of a call stack's
  };
  void learn(std::uint32_t id) {
    const std::string& name = trace_.string(StringId{id});
    names_[id].look = Lane::lookOf(id, static_cast<ColorIndex>(hueOfName(name)));
    names_[id].frame = isCallFrame(name) ? 1 : 0;
  }

  const Trace& trace_;
  std::vector<Phase> phases_;                      // by OperatorId.value
  std::uint32_t colors_[2][kKinds][kPhases] = {};  // looks without a name, without a hue
  std::vector<Name> names_;                        // by StringId.value; of those used
  std::vector<std::uint32_t> looks_;
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
                                       builder.add(spans.start_ns, spans.dur_ns, looks.of(spans));
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

void takeNames(const Trace& trace, std::vector<std::uint64_t> used, Timeline& timeline) {
  std::size_t count = used.size();
  while (count > 1 && used[count - 1] == 0) --count;
  timeline.names.assign(std::max<std::size_t>(1, count), "");
  for (std::size_t id = 1; id < count; ++id) {
    if (used[id] != 0) timeline.names[id] = trace.string(StringId{static_cast<std::uint32_t>(id)});
  }
  used.resize(timeline.names.size());
  timeline.name_counts = std::move(used);
  timeline.groups = groupNames(timeline.names);
}

}  // namespace

std::vector<Lane> lanesOf(const std::vector<Event>& events, std::span<const OperatorFacts> facts) {
  LaneBuilder builder;
  builder.reserve(events.size());
  for (const Event& event : events) {
    const Phase phase = event.op ? facts[event.op.value - 1].phase : Phase::none;
    const ColorIndex color = colorOf(event.kind, phase, 0, false);
    builder.add(event.start_ns, event.dur_ns, Lane::lookOf(event.name.value, color));
  }
  return builder.finish();
}

Result<std::shared_ptr<const Timeline>> loadTimeline(Trace& trace, const LoadControl& control) {
  auto timeline = std::make_shared<Timeline>();
  timeline->path = trace.path();
  timeline->complete = trace.isComplete();
  timeline->iterations.assign(trace.iterations().begin(), trace.iterations().end());
  timeline->losses.assign(trace.losses().begin(), trace.losses().end());
  describeTracks(trace, *timeline);
  const auto identity = control.cache_folder.empty() ? std::nullopt : traceIdentity(trace);
  Looks looks(trace);
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
  PITWALL_TRY(addStoreKeys(trace, *timeline));
  addMemoryStacks(trace, *timeline);
  arrangeTracks(*timeline);
  PITWALL_TRY(addThreadStates(trace, *timeline));
  addCoreUse(trace, *timeline);
  return std::shared_ptr<const Timeline>(std::move(timeline));
}

}  // namespace pitwall::gui
