#include "analyzer/analysis/devices.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzer/analysis/merge_runs.h"

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

struct Host {
  Intervals data_waits, synchronisations;
};

Host hostOf(const Activity& activity) {
  Host host;
  for (const auto& track : activity.tracks) {
    host.data_waits.insert(host.data_waits.end(), track.data_wait_list.begin(), track.data_wait_list.end());
    host.synchronisations.insert(host.synchronisations.end(), track.sync_list.begin(), track.sync_list.end());
  }
  host.data_waits = united(std::move(host.data_waits));
  host.synchronisations = united(std::move(host.synchronisations));
  return host;
}

class Analyzer {
 public:
  Analyzer(const Trace& trace, const Activity& activity, const LaunchIndex& launches, Interval steady)
      : trace_(trace), activity_(activity), launches_(launches), steady_(steady), host_(hostOf(activity)) {}

  Devices run() {
    collect();
    for (std::size_t i = 0; i < devices_.all.size(); ++i) {
      window(devices_.all[i]);
      divide(i);
    }
    std::sort(devices_.gaps.begin(), devices_.gaps.end(), [](const Gap& a, const Gap& b) {
      return a.dur_ns != b.dur_ns ? a.dur_ns > b.dur_ns : a.start_ns < b.start_ns;
    });
    if (devices_.gaps.size() > kMostGaps) devices_.gaps.resize(kMostGaps);
    return std::move(devices_);
  }

 private:
  // Streams of one device and rank together; the work in order of time.
  void collect() {
    std::map<std::pair<int, DeviceId>, std::size_t> index;
    for (std::size_t t = 0; t < activity_.tracks.size(); ++t) {
      const auto& track = activity_.tracks[t];
      const auto& info = trace_.tracks()[track.id.value - 1];
      if (track.device_work == 0) continue;
      const int rank = info.process && info.process.value <= trace_.processes().size()
                           ? trace_.processes()[info.process.value - 1].rank
                           : 0;
      const auto [entry, is_new] = index.try_emplace({rank, info.device}, devices_.all.size());
      if (is_new) devices_.all.push_back(describe(info.device, rank)), runs_.emplace_back();
      auto& device = devices_.all[entry->second];
      ++device.streams;
      runs_[entry->second].push_back(device.work.size());
      for (std::size_t w = activity_.work_of_track[t]; w < activity_.work_of_track[t + 1]; ++w)
        device.work.push_back(&activity_.work[w]);
    }
    step_begin_.assign(devices_.all.size(), INT64_MAX);
    for (const auto& track : activity_.tracks) {
      if (track.step_list.empty()) continue;
      const auto& info = trace_.tracks()[track.id.value - 1];
      for (std::size_t i = 0; i < devices_.all.size(); ++i) {
        if (devices_.all[i].device == info.device)
          step_begin_[i] = std::min(step_begin_[i], track.step_list.front().start_ns);
      }
    }
  }

  DeviceTimes describe(DeviceId id, int rank) {
    DeviceTimes device;
    device.device = id;
    device.rank = rank;
    device.name = "gpu";
    if (id && id.value <= trace_.devices().size()) {
      const auto& info = trace_.devices()[id.value - 1];
      device.name = fmt::format("{} {}", info.kind, info.index);
    }
    return device;
  }

  void window(DeviceTimes& device) {
    auto& work = device.work;
    auto& runs = runs_[static_cast<std::size_t>(&device - devices_.all.data())];
    runs.push_back(work.size());
    mergeRuns(work, std::move(runs), [](const DeviceWork* a, const DeviceWork* b) {
      return std::tie(a->start_ns, a->end_ns, a->correlation) <
             std::tie(b->start_ns, b->end_ns, b->correlation);
    });
    device.window = "whole trace";
    leaveOutCarriedIn(device);
    if (steady_.end_ns > steady_.start_ns) {
      const auto outside = [this](const DeviceWork* w) {
        return w->end_ns <= steady_.start_ns || w->start_ns >= steady_.end_ns;
      };
      if (!std::all_of(work.begin(), work.end(), outside)) {
        work.erase(std::remove_if(work.begin(), work.end(), outside), work.end());
        device.window = "steady iterations";
        device.begin_ns = steady_.start_ns;
        device.end_ns = steady_.end_ns;
        return;
      }
    }
    device.begin_ns = work.front()->start_ns;
    for (const auto* w : work) device.end_ns = std::max(device.end_ns, w->end_ns);
  }

  void leaveOutCarriedIn(DeviceTimes& device) {
    const TimeNs step = step_begin_[static_cast<std::size_t>(&device - devices_.all.data())];
    if (step == INT64_MAX) return;
    const auto carried = [&](const DeviceWork* w) {
      return w->start_ns < step && launches_.find(w->correlation) == nullptr;
    };
    if (std::all_of(device.work.begin(), device.work.end(), carried)) return;
    auto& work = device.work;
    std::erase_if(work, [&](const DeviceWork* w) {
      if (!carried(w)) return false;
      ++device.carried_in;
      device.carried_in_ns += w->end_ns - w->start_ns;
      return true;
    });
    if (device.carried_in > 0) device.window = "without carried-in work";
  }

  void divide(std::size_t index) {
    auto& device = devices_.all[index];
    Intervals communication, copies;
    for (const auto* w : device.work) {
      const Interval interval{std::max(w->start_ns, device.begin_ns), std::min(w->end_ns, device.end_ns)};
      switch (w->work) {
        case WorkClass::computation: ++device.kernels, appendUnion(device.computation, interval); break;
        case WorkClass::communication: ++device.collectives, appendUnion(communication, interval); break;
        case WorkClass::copy: ++device.copies, appendUnion(copies, interval); break;
      }
      appendUnion(device.busy, interval);
    }
    device.communication_ns = covered(communication);
    device.copy_ns = covered(copies);
    const auto exposed = subtract(communication, device.computation);
    part(device, DevicePart::computation) = covered(device.computation);
    part(device, DevicePart::communication) = covered(exposed);
    part(device, DevicePart::copies) = covered(subtract(subtract(copies, device.computation), communication));
    const Interval whole{device.begin_ns, device.end_ns};
    device.idle = subtract({&whole, 1}, device.busy);
    explainIdle(index);
  }

  void explainIdle(std::size_t index) {
    auto& device = devices_.all[index];
    std::size_t next = 0;
    devices_.gap_count += static_cast<std::int64_t>(device.idle.size());
    for (const auto& gap : device.idle) {
      while (next < device.work.size() && device.work[next]->start_ns < gap.end_ns) ++next;
      const auto* work = next < device.work.size() ? device.work[next] : nullptr;
      const auto* launch = work == nullptr ? nullptr : launches_.find(work->correlation);
      device.longest_gap_ns = std::max(device.longest_gap_ns, gap.end_ns - gap.start_ns);
      const DevicePart cause = explain(device, gap, launch);
      devices_.gaps.push_back(
          {index, gap.start_ns, gap.end_ns - gap.start_ns, cause, work == nullptr ? StringId{} : work->name});
      if (devices_.gaps.size() >= 64 * kMostGaps) shorten();
    }
  }

  DevicePart explain(DeviceTimes& device, const Interval& gap, const HostCall* launch) {
    const TimeNs length = gap.end_ns - gap.start_ns;
    if (launch == nullptr || launch->start_ns < gap.start_ns) {
      const auto cause =
          launch != nullptr && length <= kKernelWaitNs ? DevicePart::kernelWait : DevicePart::otherIdle;
      part(device, cause) += length;
      return cause;
    }
    const auto waits = clip(host_.data_waits, gap);
    const TimeNs data = covered(waits);
    const TimeNs sync = covered(subtract(clip(host_.synchronisations, gap), waits));
    part(device, DevicePart::dataWait) += data;
    part(device, DevicePart::synchronisation) += sync;
    part(device, DevicePart::hostWait) += length - data - sync;
    if (2 * data >= length) return DevicePart::dataWait;
    return 2 * sync >= length ? DevicePart::synchronisation : DevicePart::hostWait;
  }

  static Intervals clip(const Intervals& list, const Interval& window) {
    auto at = std::partition_point(list.begin(), list.end(),
                                   [&](const Interval& i) { return i.end_ns <= window.start_ns; });
    Intervals result;
    for (; at != list.end() && at->start_ns < window.end_ns; ++at)
      appendUnion(result, {std::max(at->start_ns, window.start_ns), std::min(at->end_ns, window.end_ns)});
    return result;
  }

  // Keeps the longest gaps only, so that memory does not grow with the trace.
  void shorten() {
    std::nth_element(devices_.gaps.begin(), devices_.gaps.begin() + kMostGaps, devices_.gaps.end(),
                     [](const Gap& a, const Gap& b) {
                       return a.dur_ns != b.dur_ns ? a.dur_ns > b.dur_ns : a.start_ns < b.start_ns;
                     });
    devices_.gaps.resize(kMostGaps);
  }

  const Trace& trace_;
  const Activity& activity_;
  const LaunchIndex& launches_;
  const Interval steady_;
  const Host host_;
  std::vector<TimeNs> step_begin_;
  std::vector<std::vector<std::size_t>> runs_;  // by device: where the work of each stream begins
  Devices devices_;
};

}  // namespace

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

Devices analyzeDevices(const Trace& trace, const Activity& activity, const LaunchIndex& launches,
                       std::span<const Iteration> iterations) {
  return Analyzer(trace, activity, launches, steadyWindow(iterations)).run();
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
  breakdown.shares.push_back({"unattributed", 0, 0});
}

}  // namespace pitwall::analysis
