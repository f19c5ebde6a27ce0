#include "analyzer/simulate/simulated_times.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace pitwall::simulate {
namespace {

// Of `at` in [from, to], in [new_from, new_to].
TimeNs stretched(TimeNs at, TimeNs from, TimeNs to, TimeNs new_from, TimeNs new_to) {
  if (to <= from) return new_from;
  const double share = static_cast<double>(at - from) / static_cast<double>(to - from);
  return new_from + std::llround(share * static_cast<double>(new_to - new_from));
}

}  // namespace

void SimulatedTimes::Moments::add(TimeNs recorded_ns, TimeNs simulated_ns) {
  if (!recorded.empty()) {
    recorded_ns = std::max(recorded_ns, recorded.back());
    simulated_ns = std::max(simulated_ns, simulated.back());
  }
  recorded.push_back(recorded_ns);
  simulated.push_back(simulated_ns);
}

TimeNs SimulatedTimes::Moments::begin(TimeNs at) const {
  const auto next =
      static_cast<std::size_t>(std::upper_bound(recorded.begin(), recorded.end(), at) - recorded.begin());
  return next > 0 && recorded[next - 1] == at ? simulated[next - 1] : between(next, at);
}

TimeNs SimulatedTimes::Moments::end(TimeNs at) const {
  const auto next =
      static_cast<std::size_t>(std::lower_bound(recorded.begin(), recorded.end(), at) - recorded.begin());
  return next < recorded.size() && recorded[next] == at ? simulated[next] : between(next, at);
}

// `next` is the first moment after `at`. Before the first and after the last one time passes as recorded.
TimeNs SimulatedTimes::Moments::between(std::size_t next, TimeNs at) const {
  if (recorded.empty()) return at;
  if (next == 0) return simulated.front() - (recorded.front() - at);
  if (next == recorded.size()) return simulated.back() + (at - recorded.back());
  return stretched(at, recorded[next - 1], recorded[next], simulated[next - 1], simulated[next]);
}

SimulatedTimes::SimulatedTimes(const Program& program, const Trace& trace, const Replayed& recorded,
                               const Replayed& simulated, const Lengths& lengths)
    : window_start_ns_(program.tasks.window.start_ns), resources_(program.tasks.resources) {
  iterations_.add(0, 0);
  for (std::size_t i = 0; i < recorded.marks_ns.size(); ++i)
    iterations_.add(recorded.marks_ns[i], simulated.marks_ns[i]);
  addTasks(program, recorded, simulated, lengths);
  assignTracks(program, trace);
}

void SimulatedTimes::addTasks(const Program& program, const Replayed& recorded, const Replayed& simulated,
                              const Lengths& lengths) {
  const auto& tasks = program.tasks.all;
  for (std::size_t i = 1; i < tasks.size(); ++i) {
    Resource& resource = resources_[tasks[i].resource];
    if (tasks[i].isWork()) {
      resource.works.push_back({recorded.end_ns[i] - tasks[i].own_ns, recorded.end_ns[i],
                                simulated.end_ns[i] - lengths.own_ns[i], simulated.end_ns[i]});
    } else {
      resource.moments.add(recorded.end_ns[i], simulated.end_ns[i]);
    }
  }
  for (Resource& resource : resources_) {
    std::sort(resource.works.begin(), resource.works.end(), [](const Work& a, const Work& b) {
      return std::tuple(a.start_ns, a.end_ns) < std::tuple(b.start_ns, b.end_ns);
    });
  }
}

// A thread may have several tracks.
void SimulatedTimes::assignTracks(const Program& program, const Trace& trace) {
  const auto tracks = trace.tracks();
  resource_of_.assign(tracks.size(), kNone);
  const auto assign = [&](TrackId of, std::uint32_t resource) {
    const Resource& known = resources_[resource];
    if (!of || (known.moments.recorded.empty() && known.works.empty())) return;
    const TrackInfo& main = tracks[of.value - 1];
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      const bool same_thread =
          main.thread && tracks[i].thread == main.thread && tracks[i].kind != TrackKind::stream;
      if (i == of.value - 1 || (same_thread && resource_of_[i] == kNone)) resource_of_[i] = resource;
    }
  };
  const auto& resources = program.graph.resources;
  // The training thread of an engine has its moments behind the workers.
  if (program.of_engine && program.tasks.resources > resources.size())
    assign(program.training_track, static_cast<std::uint32_t>(resources.size()));
  for (std::uint32_t r = 0; r < resources.size(); ++r) {
    if (!program.of_engine || resources[r].track != program.training_track) assign(resources[r].track, r);
  }
  if (program.training_track) training_ = resource_of_[program.training_track.value - 1];
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const auto process = tracks[i].process;
    has_.push_back(!process || !program.process || process == program.process);
  }
}

const SimulatedTimes::Resource* SimulatedTimes::resourceOf(TrackId track) const {
  const auto index = track ? resource_of_[track.value - 1] : training_;
  return index == kNone ? nullptr : &resources_[index];
}

bool SimulatedTimes::has(TrackId track) const { return has_[track.value - 1]; }

// The one with these times exactly, or the shortest that encloses them.
bool SimulatedTimes::findWork(const std::vector<Work>& works, TimeNs start, TimeNs end, Work& found) {
  constexpr std::ptrdiff_t kMostOverlapping = 64;
  auto at = std::upper_bound(works.begin(), works.end(), start,
                             [](TimeNs time, const Work& work) { return time < work.start_ns; });
  bool any = false;
  for (std::ptrdiff_t i = 0; i < kMostOverlapping && at != works.begin(); ++i) {
    const Work& work = *--at;
    if (work.end_ns < end) continue;
    if (any && work.end_ns - work.start_ns >= found.end_ns - found.start_ns) continue;
    found = work;
    any = true;
    if (work.start_ns == start && work.end_ns == end) break;
  }
  return any;
}

// Of a time outside all work, where `after` is the number of those that start before.
TimeNs SimulatedTimes::nearWork(const std::vector<Work>& works, std::size_t after, TimeNs at) {
  const bool is_last = after == works.size();
  if (after == 0) return works.front().simulated_start_ns - (works.front().start_ns - at);
  const Work& before = works[after - 1];
  if (at <= before.end_ns) {
    return stretched(at, before.start_ns, before.end_ns, before.simulated_start_ns, before.simulated_end_ns);
  }
  const TimeNs moved = before.simulated_end_ns + (at - before.end_ns);
  return is_last ? moved
                 : std::min(moved, std::max(before.simulated_end_ns, works[after].simulated_start_ns));
}

TimeNs SimulatedTimes::beginAmong(const Resource& resource, TimeNs at) {
  if (!resource.moments.recorded.empty()) return resource.moments.begin(at);
  const auto& works = resource.works;
  const auto after = std::upper_bound(works.begin(), works.end(), at,
                                      [](TimeNs time, const Work& work) { return time < work.start_ns; });
  return nearWork(works, static_cast<std::size_t>(after - works.begin()), at);
}

TimeNs SimulatedTimes::endAmong(const Resource& resource, TimeNs at) {
  if (!resource.moments.recorded.empty()) return resource.moments.end(at);
  const auto& works = resource.works;
  const auto after = std::lower_bound(works.begin(), works.end(), at,
                                      [](const Work& work, TimeNs time) { return work.start_ns < time; });
  return nearWork(works, static_cast<std::size_t>(after - works.begin()), at);
}

void SimulatedTimes::move(TrackId track, Event& event) const {
  const TimeNs start = event.start_ns - window_start_ns_, end = start + event.dur_ns;
  const TimeNs pushed = event.pushed_ns - window_start_ns_, waited = event.start_ns - event.ready_ns;
  const bool is_queued = event.kind == EventKind::operatorRun;
  const Resource* resource = resourceOf(track);
  TimeNs from = 0, to = 0;
  if (Work work; resource != nullptr && findWork(resource->works, start, end, work)) {
    from = stretched(start, work.start_ns, work.end_ns, work.simulated_start_ns, work.simulated_end_ns);
    to = stretched(end, work.start_ns, work.end_ns, work.simulated_start_ns, work.simulated_end_ns);
    if (work.start_ns == work.end_ns) to = work.simulated_end_ns;
  } else if (resource != nullptr) {
    from = beginAmong(*resource, start);
    to = event.dur_ns == 0 ? from : endAmong(*resource, end);
  } else {
    from = iterations_.begin(start);
    to = event.dur_ns == 0 ? from : iterations_.end(end);
  }
  to = std::max(from, to);
  event.start_ns = window_start_ns_ + from;
  event.dur_ns = to - from;
  event.pushed_ns = event.ready_ns = event.start_ns;
  if (!is_queued) return;
  const Resource* training = resourceOf({});
  const TimeNs asked = training == nullptr ? from - (start - pushed) : beginAmong(*training, pushed);
  event.pushed_ns = window_start_ns_ + std::min(from, asked);
  event.ready_ns = std::clamp(event.start_ns - waited, event.pushed_ns, event.start_ns);
}

TimeNs SimulatedTimes::moved(TrackId track, TimeNs time_ns) const {
  const Resource* resource = resourceOf(track);
  const TimeNs at = time_ns - window_start_ns_;
  return window_start_ns_ + (resource == nullptr ? iterations_.end(at) : endAmong(*resource, at));
}

}  // namespace pitwall::simulate
