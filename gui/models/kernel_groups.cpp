#include "gui/models/kernel_groups.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "db/torch_ranges.h"
#include "db/try.h"

namespace pitwall::gui {
namespace {

std::int64_t productOf(const std::array<std::int32_t, 3>& extent) {
  std::int64_t product = 1;
  for (const std::int32_t of : extent) product *= of;
  return product;
}

class Grouping {
 public:
  Grouping(Trace& trace, const Timeline& timeline, const std::atomic<bool>& cancel)
      : trace_(trace), timeline_(timeline), cancel_(cancel) {}

  Status readKernels(std::size_t track) {
    return read(track, kStart | kDur | kName | kKind | kKernel, [&](const EventSpans& spans, std::size_t i) {
      if (spans.kind[i] == static_cast<std::int64_t>(EventKind::kernel))
        add(spans.name[i], spans.kernel[i], {track, spans.start_ns[i]}, spans.dur_ns[i]);
    });
  }

  // Ranges with the values of hardware counters.
  Status readCounted(std::size_t track) {
    const CounterSeries* const active = warpsActive(timeline_.tracks[track]);
    PITWALL_TRY(readLaunched());
    return read(track, kStart | kDur | kName | kKernel | kCorrelation,
                [&](const EventSpans& spans, std::size_t i) {
                  if (launched_.count(spans.correlation[i]) != 0)
                    add(spans.name[i], spans.kernel[i], {track, spans.start_ns[i]}, spans.dur_ns[i]);
                  if (active == nullptr) return;
                  const std::size_t sample = active->at(spans.start_ns[i]);
                  if (sample == active->size() || active->timeNs(sample) != spans.start_ns[i]) return;
                  Active& sum = active_[spans.name[i]];
                  const auto weight = static_cast<double>(std::max<TimeNs>(1, spans.dur_ns[i]));
                  sum.weighted += std::clamp(active->value(sample) / 100, 0.0, 1.0) * weight;
                  sum.weight += weight;
                });
  }

  std::vector<KernelGroup> groups() {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      KernelGroup& group = groups_[i];
      group.longest = eventAt(timeline_, longest_[i].track, longest_[i].start_ns, group.longest_ns);
      const auto active = active_.find(names_[i]);
      if (active != active_.end()) group.achieved_occupancy = active->second.weighted / active->second.weight;
    }
    return std::move(groups_);
  }

 private:
  struct Place {
    std::size_t track = 0;
    TimeNs start_ns = 0;
  };
  struct Active {
    double weighted = 0, weight = 0;
  };

  template <class Each>
  Status read(std::size_t track, EventFields fields, const Each& each) {
    const EventSelection selection{.track = timeline_.tracks[track].id, .fields = fields};
    PITWALL_TRY(trace_.eventColumns(selection, [&](const EventSpans& spans) {
      for (std::size_t i = 0; i < spans.size; ++i) each(spans, i);
      return !cancel_.load();
    }));
    return cancel_.load() ? Status(fail(ErrorCode::cancelled, "reading the kernels was stopped")) : Status();
  }

  void add(std::int64_t name, std::int64_t kernel, const Place& place, TimeNs dur_ns) {
    const auto [at, is_new] = known_.try_emplace({name, kernel}, groups_.size());
    if (is_new) {
      KernelGroup& fresh = groups_.emplace_back();
      fresh.name = trace_.string(StringId{static_cast<std::uint32_t>(name)});
      fresh.label = timeline_.label(static_cast<std::uint32_t>(name));
      const auto facts = trace_.kernelFacts();
      const auto index = static_cast<std::size_t>(kernel);
      if (index >= 1 && index <= facts.size()) fresh.facts = facts[index - 1];
      longest_.emplace_back();
      names_.push_back(name);
    }
    KernelGroup& group = groups_[at->second];
    ++group.count;
    group.total_ns += dur_ns;
    if (group.count > 1 && dur_ns <= group.longest_ns) return;
    group.longest_ns = dur_ns;
    longest_[at->second] = place;
  }

  // Null: not counted on the device of these ranges.
  const CounterSeries* warpsActive(const TimelineTrack& ranges) const {
    const std::string name = ranges.device + ": " + std::string(kWarpsActive);
    for (const TimelineTrack& track : timeline_.tracks) {
      if (track.kind != TrackKind::counter || track.id.value == 0 || track.id.value > trace_.tracks().size())
        continue;
      if (track.process == ranges.process && trace_.tracks()[track.id.value - 1].name == name)
        return &track.counter;
    }
    return nullptr;
  }

  // What a call launched, by its correlation; read once.
  Status readLaunched() {
    if (std::exchange(knows_launched_, true)) return {};
    return trace_.visitDependencies([&](std::span<const Dependency> dependencies) {
      for (const Dependency& dependency : dependencies) {
        if (dependency.kind == DependencyKind::launch)
          launched_.insert(static_cast<std::int64_t>(dependency.target));
      }
      return !cancel_.load();
    });
  }

  Trace& trace_;
  const Timeline& timeline_;
  const std::atomic<bool>& cancel_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> known_;  // by name and facts
  std::vector<KernelGroup> groups_;
  std::vector<Place> longest_;             // of each group
  std::vector<std::int64_t> names_;        // of each group
  std::map<std::int64_t, Active> active_;  // by name
  std::unordered_set<std::int64_t> launched_;
  bool knows_launched_ = false;
};

}  // namespace

std::int64_t KernelGroup::blocks() const { return productOf(facts.grid); }
std::int64_t KernelGroup::threads() const { return productOf(facts.block); }

Result<std::vector<KernelGroup>> kernelGroups(Trace& trace, const Timeline& timeline,
                                              const std::atomic<bool>& cancel) {
  Grouping grouping(trace, timeline, cancel);
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    const TimelineTrack& track = timeline.tracks[t];
    if (track.kind != TrackKind::stream || track.lanes.empty()) continue;
    if (trace.tracks()[track.id.value - 1].name.ends_with(kCountedRanges))
      PITWALL_TRY(grouping.readCounted(t));
    else
      PITWALL_TRY(grouping.readKernels(t));
  }
  return grouping.groups();
}

}  // namespace pitwall::gui
