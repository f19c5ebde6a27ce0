#include "analyzer/analysis/devices.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyzer/analysis/merge_runs.h"
#include "db/track_titles.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

constexpr TimeNs kKernelWaitNs = 10'000;
constexpr std::size_t kMostGaps = 1000;
constexpr std::int64_t kLeastSteady = 3;

TimeNs& part(DeviceTimes& device, DevicePart which) { return device.parts[static_cast<std::size_t>(which)]; }

// Steady iterations as one window; empty when there are too few.
Interval steadyWindow(std::span<const Iteration> iterations) {
  Interval window{0, 0};
  std::int64_t steady = 0;
  for (const auto& iteration : iterations) {
    if (iteration.role != IterationRole::steady) continue;
    if (steady++ == 0) window.start_ns = iteration.start_ns;
    window.end_ns = iteration.end_ns;
  }
  return iterations.size() > 1 && steady >= kLeastSteady ? window : Interval{0, 0};
}

bool isOutside(const DeviceWork& work, const Interval& window) {
  return work.end_ns <= window.start_ns || work.start_ns >= window.end_ns;
}

bool isLonger(const Gap& a, const Gap& b) {
  return std::tuple(-a.dur_ns, a.start_ns, a.device) < std::tuple(-b.dur_ns, b.start_ns, b.device);
}

}  // namespace

void DeviceSweep::Bounds::add(const DeviceWork& work, const Interval& steady) {
  any = true;
  any_steady = any_steady || !isOutside(work, steady);
  begin_ns = std::min(begin_ns, work.start_ns);
  end_ns = std::max(end_ns, work.end_ns);
}

DeviceSweep::DeviceSweep(Trace& trace, const Activity& activity, Interval steady)
    : trace_(&trace), activity_(&activity), steady_(steady), launches_(activity) {
  for (const auto& name : activity.names) {
    if (name.kind != EventKind::api) continue;
    const auto meaning = meaningOf(trace.string(name.name), name.kind) & (kLaunches | kLaunchesGraph);
    if (meaning != kLaunches) continue;
    if (name.name.value >= launches_kernel_.size()) launches_kernel_.resize(std::size_t{name.name.value} + 1);
    launches_kernel_[name.name.value] = true;
  }
}

Result<DeviceSweep> DeviceSweep::make(Trace& trace, TimeChunkReader& chunks,
                                      std::span<const Iteration> iterations) {
  DeviceSweep sweep(trace, chunks.activity(), steadyWindow(iterations));
  sweep.collect();
  if (sweep.states_.empty()) return sweep;
  PITWALL_TRY(sweep.findWindows(chunks));
  return sweep;
}

// Streams of one device and rank together.
void DeviceSweep::collect() {
  std::map<std::pair<int, DeviceId>, std::size_t> index;
  for (std::size_t t = 0; t < activity_->tracks.size(); ++t) {
    const auto& track = activity_->tracks[t];
    if (track.device_work == 0) continue;
    const auto& info = trace_->tracks()[track.id.value - 1];
    const int rank = info.process && info.process.value <= trace_->processes().size()
                         ? trace_->processes()[info.process.value - 1].rank
                         : 0;
    const auto [entry, is_new] = index.try_emplace({rank, info.device}, devices_.all.size());
    if (is_new) devices_.all.push_back(describe(info.device, rank)), states_.emplace_back();
    ++devices_.all[entry->second].streams;
    states_[entry->second].tracks.push_back(t);
  }
  for (const auto& track : activity_->tracks) {
    if (track.step_list.empty()) continue;
    const auto& info = trace_->tracks()[track.id.value - 1];
    for (std::size_t i = 0; i < states_.size(); ++i) {
      auto& begin = states_[i].step_begin_ns;
      if (devices_.all[i].device == info.device) begin = std::min(begin, track.step_list.front().start_ns);
    }
  }
  for (const auto& loss : trace_->losses()) {
    const bool of_all = !loss.track || loss.track.value > trace_->tracks().size();
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const bool of_it = !of_all && trace_->tracks()[loss.track.value - 1].kind == TrackKind::stream &&
                         trace_->tracks()[loss.track.value - 1].device == devices_.all[i].device;
      if ((of_all || of_it) && loss.to_ns > loss.from_ns)
        states_[i].losses.push_back({loss.from_ns, loss.to_ns});
    }
  }
  for (auto& state : states_) {
    state.losses = united(std::move(state.losses));
    collectWaits(state);
  }
  chunks_.resize(states_.size());
}

// Of the processes that the device works for: waits of other ranks do not concern it.
void DeviceSweep::collectWaits(State& state) const {
  const auto processOf = [this](std::size_t t) {
    return trace_->tracks()[activity_->tracks[t].id.value - 1].process;
  };
  std::set<ProcessId> processes;
  for (const auto t : state.tracks) processes.insert(processOf(t));
  state.hosts.assign(trace_->tracks().size() + 1, false);
  for (std::size_t t = 0; t < activity_->tracks.size(); ++t) {
    const bool is_known = processes.count(ProcessId{}) == 0;  // of which process the device's work is
    if (is_known && processes.count(processOf(t)) == 0) continue;
    const auto& track = activity_->tracks[t];
    state.hosts[track.id.value] = true;
    state.data_waits.insert(state.data_waits.end(), track.data_wait_list.begin(), track.data_wait_list.end());
    state.synchronisations.insert(state.synchronisations.end(), track.sync_list.begin(),
                                  track.sync_list.end());
  }
  state.data_waits = united(std::move(state.data_waits));
  state.synchronisations = united(std::move(state.synchronisations));
}

DeviceTimes DeviceSweep::describe(DeviceId id, int rank) const {
  DeviceTimes device;
  device.device = id;
  device.rank = rank;
  device.name = "gpu";
  if (id && id.value <= trace_->devices().size()) {
    device.name = deviceTitle(trace_->devices()[id.value - 1]);
  }
  return device;
}

bool DeviceSweep::isCarriedIn(const State& state, const DeviceWork& work) const {
  return work.start_ns < state.step_begin_ns && launches_.find(work.correlation) == nullptr;
}

Status DeviceSweep::findWindows(TimeChunkReader& chunks) {
  struct Found {
    Bounds all, kept;  // kept: without carried-in work
  };
  std::vector<Found> found(states_.size());
  auto status = chunks.each(kWorkParts, [&](const TimeChunk& chunk) -> Result<bool> {
    const bool asks = std::any_of(states_.begin(), states_.end(), [&](const State& state) {
      return state.step_begin_ns != INT64_MAX && state.step_begin_ns > chunk.from_ns;
    });
    if (asks) {
      PITWALL_TRY(launches_.load(*trace_, chunk.work));
    }
    for (std::size_t d = 0; d < states_.size(); ++d) {
      const State& state = states_[d];
      const bool steps = state.step_begin_ns != INT64_MAX;
      for (const auto t : state.tracks) {
        for (std::size_t w = chunk.work_of_track[t]; w < chunk.work_of_track[t + 1]; ++w) {
          const auto& work = chunk.work[w];
          found[d].all.add(work, steady_);
          if (!steps || !isCarriedIn(state, work)) {
            found[d].kept.add(work, steady_);
            continue;
          }
          ++devices_.all[d].carried_in;
          devices_.all[d].carried_in_ns += work.end_ns - work.start_ns;
        }
      }
    }
    return true;
  });
  PITWALL_TRY(status);
  for (std::size_t d = 0; d < states_.size(); ++d) {
    auto& device = devices_.all[d];
    // Where no work would be left, none is left out.
    states_[d].leaves_out = found[d].kept.any && device.carried_in > 0;
    if (!states_[d].leaves_out) device.carried_in = device.carried_in_ns = 0;
    const Bounds& bounds = found[d].kept.any ? found[d].kept : found[d].all;
    const bool steady = steady_.end_ns > steady_.start_ns && bounds.any_steady;
    device.window = steady                  ? "steady iterations"
                    : states_[d].leaves_out ? "without carried-in work"
                                            : "whole trace";
    device.begin_ns = steady ? steady_.start_ns : bounds.begin_ns;
    device.end_ns = steady ? steady_.end_ns : bounds.end_ns;
  }
  return {};
}

Status DeviceSweep::add(const TimeChunk& chunk) {
  if (states_.empty()) return {};
  PITWALL_TRY(launches_.load(*trace_, chunk.work));
  for (std::size_t d = 0; d < states_.size(); ++d) {
    choose(d, chunk);
    divide(d);
    closeGaps(d, launchingIn(states_[d], chunk), chunk.to_ns > devices_.all[d].end_ns);
  }
  return {};
}

// The work of the time chunk that counts.
void DeviceSweep::choose(std::size_t index, const TimeChunk& chunk) {
  const State& state = states_[index];
  auto& device = devices_.all[index];
  auto& now = chunks_[index];
  const bool steady = device.window == "steady iterations";
  now.from_ns = chunk.from_ns;
  now.to_ns = chunk.to_ns;
  now.work.clear();
  std::vector<std::size_t> runs;
  for (const auto t : state.tracks) {
    runs.push_back(now.work.size());
    for (std::size_t w = chunk.work_of_track[t]; w < chunk.work_of_track[t + 1]; ++w) {
      const auto& work = chunk.work[w];
      if (steady && isOutside(work, steady_)) continue;
      if (state.leaves_out && isCarriedIn(state, work)) continue;
      now.work.push_back(&work);
    }
  }
  runs.push_back(now.work.size());
  mergeRuns(now.work, std::move(runs), [](const DeviceWork* a, const DeviceWork* b) {
    return std::tie(a->start_ns, a->end_ns, a->correlation) <
           std::tie(b->start_ns, b->end_ns, b->correlation);
  });
  device.work += static_cast<std::int64_t>(now.work.size());
}

void DeviceSweep::divide(std::size_t index) {
  auto& device = devices_.all[index];
  auto& state = states_[index];
  auto& now = chunks_[index];
  const Interval window{std::max(now.from_ns, device.begin_ns), std::min(now.to_ns, device.end_ns)};
  std::array<Intervals, 3> lists;  // by class
  for (std::size_t c = 0; c < lists.size(); ++c)
    appendUnion(lists[c], {window.start_ns, std::min(state.running_until_ns[c], window.end_ns)});
  for (const auto* w : now.work) {
    const auto c = static_cast<std::size_t>(w->work);
    appendUnion(lists[c], {std::max(w->start_ns, window.start_ns), std::min(w->end_ns, window.end_ns)});
    state.running_until_ns[c] = std::max(state.running_until_ns[c], w->end_ns);
    switch (w->work) {
      case WorkClass::computation: ++(w->sets_memory ? device.memsets : device.kernels); break;
      case WorkClass::communication: ++device.collectives; break;
      case WorkClass::copy: ++device.copies; break;
    }
  }
  now.computation = std::move(lists[static_cast<std::size_t>(WorkClass::computation)]);
  const auto& communication = lists[static_cast<std::size_t>(WorkClass::communication)];
  const auto& copies = lists[static_cast<std::size_t>(WorkClass::copy)];
  device.communication_ns += covered(communication);
  device.copy_ns += covered(copies);
  part(device, DevicePart::computation) += covered(now.computation);
  part(device, DevicePart::communication) += covered(subtract(communication, now.computation));
  part(device, DevicePart::copies) += covered(subtract(subtract(copies, now.computation), communication));
  const auto busy = united(united(now.computation, communication), copies);
  const auto unknown = window.start_ns < window.end_ns ? subtract({&window, 1}, busy) : Intervals();
  now.idle = subtract(unknown, state.losses);
  device.unattributed_ns += covered(unknown) - covered(now.idle);
  device.busy_ns += covered(busy);
  device.idle_ns += covered(now.idle);
}

// Calls that launch single kernels.
Intervals DeviceSweep::launchingIn(State& state, const TimeChunk& chunk) const {
  Intervals calls;
  calls.swap(state.launching);
  for (const auto& call : chunk.calls) {
    if (call.name.value < launches_kernel_.size() && launches_kernel_[call.name.value] &&
        state.hosts[call.track.value])
      calls.push_back({call.start_ns, call.end_ns});
  }
  for (const auto& call : calls) {
    if (call.end_ns > chunk.to_ns) state.launching.push_back({chunk.to_ns, call.end_ns});
  }
  return united(std::move(calls));
}

// Gaps that end in the time chunk. `is_last`: the window ends in it.
void DeviceSweep::closeGaps(std::size_t index, const Intervals& launching, bool is_last) {
  auto& device = devices_.all[index];
  auto& state = states_[index];
  const auto& now = chunks_[index];
  std::size_t next = 0;
  const auto close = [&](Interval gap) {
    while (next < now.work.size() && now.work[next]->start_ns < gap.end_ns) ++next;
    explainGap(index, gap, next < now.work.size() ? now.work[next] : nullptr);
  };
  const TimeNs end = std::min(now.to_ns, device.end_ns);
  const bool goes_on = !now.idle.empty() && now.idle.front().start_ns <= now.from_ns;
  const bool in_window = std::max(now.from_ns, device.begin_ns) < end;
  if (state.gap_is_open && in_window && !goes_on) {
    close({state.gap_begin_ns, now.from_ns});
    state.gap_is_open = false;
  }
  for (const auto& idle : now.idle) {
    if (!state.gap_is_open) state.gap_begin_ns = idle.start_ns;
    const auto calls = subtract(within(launching, idle.start_ns, idle.end_ns),
                                within(state.data_waits, idle.start_ns, idle.end_ns));
    state.gap_launching_ns +=
        covered(subtract(calls, within(state.synchronisations, idle.start_ns, idle.end_ns)));
    state.gap_is_open = idle.end_ns == end;
    if (!state.gap_is_open) close({state.gap_begin_ns, idle.end_ns});
  }
  if (state.gap_is_open && is_last) {
    close({state.gap_begin_ns, device.end_ns});
    state.gap_is_open = false;
  }
}

void DeviceSweep::explainGap(std::size_t index, Interval gap, const DeviceWork* next) {
  auto& device = devices_.all[index];
  const auto* launch = next == nullptr ? nullptr : launches_.find(next->correlation);
  const TimeNs length = gap.end_ns - gap.start_ns;
  ++devices_.gap_count;
  device.longest_gap_ns = std::max(device.longest_gap_ns, length);
  const DevicePart cause = explain(states_[index], device, gap, launch);
  devices_.gaps.push_back({index, gap.start_ns, length, cause, next == nullptr ? StringId{} : next->name});
  states_[index].gap_launching_ns = 0;
  if (devices_.gaps.size() >= 64 * kMostGaps) shortenGaps();
}

DevicePart DeviceSweep::explain(const State& state, DeviceTimes& device, const Interval& gap,
                                const HostCall* launch) const {
  const TimeNs length = gap.end_ns - gap.start_ns;
  if (launch == nullptr || launch->start_ns < gap.start_ns) {
    const auto cause =
        launch != nullptr && length <= kKernelWaitNs ? DevicePart::kernelWait : DevicePart::otherIdle;
    part(device, cause) += length;
    return cause;
  }
  const auto waits = within(state.data_waits, gap.start_ns, gap.end_ns);
  const TimeNs data = covered(waits);
  const TimeNs sync = covered(subtract(within(state.synchronisations, gap.start_ns, gap.end_ns), waits));
  part(device, DevicePart::dataWait) += data;
  part(device, DevicePart::synchronisation) += sync;
  part(device, DevicePart::hostWait) += length - data - sync;
  if (length < kLongGapNs) {
    device.short_wait_ns += length - data - sync;
    device.launching_ns += state.gap_launching_ns;
  }
  if (2 * data >= length) return DevicePart::dataWait;
  return 2 * sync >= length ? DevicePart::synchronisation : DevicePart::hostWait;
}

// Keeps the longest gaps only, so that memory does not grow with the trace.
void DeviceSweep::shortenGaps() {
  std::nth_element(devices_.gaps.begin(), devices_.gaps.begin() + kMostGaps, devices_.gaps.end(), isLonger);
  devices_.gaps.resize(kMostGaps);
}

Devices DeviceSweep::finish() {
  std::sort(devices_.gaps.begin(), devices_.gaps.end(), isLonger);
  if (devices_.gaps.size() > kMostGaps) devices_.gaps.resize(kMostGaps);
  return std::move(devices_);
}

const char* toString(DevicePart part) {
  switch (part) {
    case DevicePart::computation: return "computation";
    case DevicePart::communication: return "communication";
    case DevicePart::copies: return "copies";
    case DevicePart::dataWait: return "data wait";
    case DevicePart::synchronisation: return "synchronisation";
    case DevicePart::hostWait: return "host wait";
    case DevicePart::kernelWait: return "kernel wait";
    case DevicePart::otherIdle: return "idle";
  }
  return "idle";
}

void summarizeDevices(const Devices& devices, Breakdown& breakdown) {
  if (devices.all.empty()) return;
  breakdown.shares.clear();
  breakdown.devices = static_cast<int>(devices.all.size());
  breakdown.wall_ns = 0;
  for (const auto& device : devices.all) breakdown.wall_ns += device.end_ns - device.begin_ns;
  for (std::size_t p = 0; p < kDeviceParts; ++p) {
    TimeNs total = 0;
    for (const auto& device : devices.all) total += device.parts[p];
    const double share =
        breakdown.wall_ns > 0 ? static_cast<double>(total) / static_cast<double>(breakdown.wall_ns) : 0;
    breakdown.shares.push_back({toString(static_cast<DevicePart>(p)), total, share});
  }
  TimeNs unattributed = 0;
  for (const auto& device : devices.all) unattributed += device.unattributed_ns;
  breakdown.shares.push_back({"unattributed", unattributed,
                              breakdown.wall_ns > 0
                                  ? static_cast<double>(unattributed) / static_cast<double>(breakdown.wall_ns)
                                  : 0});
}

}  // namespace pitwall::analysis
