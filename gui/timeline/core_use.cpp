#include "gui/timeline/core_use.h"

#include <map>
#include <optional>
#include <string>

namespace pitwall::gui {
namespace {

constexpr double kMostCores = 4096;  // more than a machine has: the value is no CPU's number

struct Sampled {
  const CounterSeries *share = nullptr, *core = nullptr;
  int rank = 0;
};

using Changes = std::map<TimeNs, double>;  // of what is in use, at each time

void add(const Sampled& thread, std::map<std::pair<int, int>, Changes>& cores) {
  const CounterSeries& share = *thread.share;
  for (std::size_t i = 0; i + 1 < share.size(); ++i) {
    const TimeNs from = share.timeNs(i), to = share.timeNs(i + 1);
    const std::size_t at = thread.core->at(to);  // where it is at the end of the interval is where it ran
    if (at >= thread.core->size() || share.value(i) <= 0) continue;
    const double core = thread.core->value(at);
    if (core < 0 || core >= kMostCores) continue;
    Changes& changes = cores[{thread.rank, static_cast<int>(core)}];
    changes[from] += share.value(i);
    changes[to] -= share.value(i);
  }
}

CounterSeries seriesOf(const Changes& changes) {
  std::vector<CounterSample> samples;
  double now = 0;
  for (const auto& [time, change] : changes) {
    now += change;
    const bool idle = now < 1e-9;  // what rounding leaves
    samples.push_back({time, idle ? 0 : now});
  }
  return CounterSeries(samples);
}

}  // namespace

void addCoreUse(const Trace& trace, Timeline& timeline) {
  const auto infos = trace.tracks();
  std::map<std::uint32_t, Sampled> threads;
  bool several_ranks = false;
  for (const TimelineTrack& track : timeline.tracks) {
    if (track.label.empty() || track.id.value > infos.size()) continue;
    const std::string& name = infos[track.id.value - 1].name;
    Sampled& of = threads[track.thread];
    of.rank = timeline.processes[track.process].rank;
    several_ranks |= of.rank != timeline.processes[0].rank;
    if (name == "cpu") of.share = &track.counter;
    if (name == "cpu number") of.core = &track.counter;
  }
  std::map<std::pair<int, int>, Changes> cores;
  for (const auto& [thread, of] : threads) {
    if (of.share != nullptr && of.core != nullptr) add(of, cores);
  }
  std::optional<int> rank;
  std::uint32_t id = kCoreRow;
  for (const auto& [where, changes] : cores) {
    if (rank != where.first) {
      rank = where.first;
      timeline.processes.push_back(
          {several_ranks ? "CPUs of rank " + std::to_string(*rank) : "CPUs", 0, *rank});
    }
    TimelineTrack track;
    track.id = TrackId{id++};
    track.kind = TrackKind::counter;
    track.process = timeline.processes.size() - 1;
    track.unit = "share";
    track.title = "CPU " + std::to_string(where.second) + ", as sampled (share)";
    track.distinct_to = track.title.find(',');
    track.counter = seriesOf(changes);
    track.events = track.counter.size();
    timeline.tracks.push_back(std::move(track));
  }
}

}  // namespace pitwall::gui
