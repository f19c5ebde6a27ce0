#include "analyzer/analysis/activity.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

namespace pitwall::analysis {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool isDeviceWork(EventKind kind) {
  return kind == EventKind::kernel || kind == EventKind::copy || kind == EventKind::communication;
}

class Gatherer {
 public:
  Gatherer(Trace& trace, Activity& activity) : trace_(trace), activity_(activity) {}

  Status run() {
    const auto tracks = trace_.tracks();
    for (std::uint32_t i = 0; i < tracks.size(); ++i) {
      if (tracks[i].kind == TrackKind::counter) continue;
      if (auto status = track(TrackId{i + 1}, tracks[i]); !status.has_value()) return status;
    }
    activity_.operators_of_track.push_back(activity_.operators.size());
    activity_.work_of_track.push_back(activity_.work.size());
    return {};
  }

 private:
  Status track(TrackId id, const TrackInfo& info) {
    auto events = trace_.events(id);
    if (!events.has_value()) return fail(events.error());
    activity_.operators_of_track.push_back(activity_.operators.size());
    activity_.work_of_track.push_back(activity_.work.size());
    totals_.clear();
    TrackActivity track;
    track.id = id;
    Interval reach{INT64_MIN, INT64_MIN};  // what the events so far cover without a gap
    for (const auto& event : events.value()) {
      total(event, info);
      add(event, info, track);
      if (event.kind == EventKind::recorder) continue;
      const TimeNs end = event.start_ns + event.dur_ns;
      if (track.events == 0 || event.start_ns < track.first_ns) track.first_ns = event.start_ns;
      if (track.events == 0 || end > track.last_ns) track.last_ns = end;
      ++track.events;
      if (event.start_ns > reach.end_ns) reach = {event.start_ns, event.start_ns};
      track.busy_ns += std::max<TimeNs>(0, end - reach.end_ns);
      reach.end_ns = std::max(reach.end_ns, end);
    }
    activity_.tracks.push_back(std::move(track));
    return {};
  }

  void total(const Event& event, const TrackInfo& info) {
    const std::uint64_t key =
        (static_cast<std::uint64_t>(event.name.value) << 8) | static_cast<std::uint8_t>(event.kind);
    if (key != last_key_ || totals_.empty()) {
      const auto [entry, is_new] = totals_.try_emplace(key, activity_.names.size());
      if (is_new) activity_.names.push_back({event.name, event.kind, info.kind, info.process});
      last_key_ = key;
      last_total_ = entry->second;
    }
    auto& sum = activity_.names[last_total_];
    if (sum.count == 0 || event.dur_ns < sum.min_ns) sum.min_ns = event.dur_ns;
    sum.max_ns = std::max(sum.max_ns, event.dur_ns);
    ++sum.count;
    sum.items += event.value;
    sum.total_ns += event.dur_ns;
  }

  std::uint8_t meaning(const Event& event) {
    const std::uint64_t key =
        (static_cast<std::uint64_t>(event.name.value) << 8) | static_cast<std::uint8_t>(event.kind);
    const auto [entry, is_new] = meanings_.try_emplace(key, 0);
    if (is_new) entry->second = meaningOf(trace_.string(event.name), event.kind);
    return entry->second;
  }

  // A memset is work of the device like a kernel, though it is written as a copy.
  WorkClass classOf(const Event& event) {
    if (event.kind == EventKind::communication) return WorkClass::communication;
    if (event.kind != EventKind::copy) return WorkClass::computation;
    return (meaning(event) & kSetsMemory) != 0 ? WorkClass::computation : WorkClass::copy;
  }

  void add(const Event& event, const TrackInfo& info, TrackActivity& track) {
    const Interval interval{event.start_ns, event.start_ns + event.dur_ns};
    if (info.kind == TrackKind::stream && isDeviceWork(event.kind)) {
      ++track.device_work;
      activity_.work.push_back({interval.start_ns, interval.end_ns, event.correlation, event.value,
                                event.name, event.args, track.id, event.kernel.value, classOf(event)});
      return;
    }
    switch (event.kind) {
      case EventKind::operatorRun:
        ++track.operators;
        activity_.operators.push_back({interval.start_ns, interval.end_ns,
                                       std::min(event.pushed_ns, event.start_ns), event.correlation, event.op,
                                       track.id.value});
        break;
      case EventKind::bulk: appendUnion(track.bulk_list, interval); break;
      case EventKind::dataWait:
        ++track.data_waits;
        appendUnion(track.data_wait_list, interval);
        break;
      case EventKind::wait:
        ++track.waits;
        appendUnion(track.wait_list, interval);
        break;
      case EventKind::dataWork:
        ++track.data_works;
        track.data_work_ns += event.dur_ns;
        appendUnion(track.data_work_list, interval);
        break;
      case EventKind::recorder: track.recorder_ns += event.dur_ns; break;
      case EventKind::api:
        activity_.calls.push_back(
            {interval.start_ns, interval.end_ns, event.correlation, event.name, track.id});
        if ((meaning(event) & kSynchronises) != 0) appendUnion(track.sync_list, interval);
        break;
      case EventKind::scope:
        if ((meaning(event) & kReadsData) != 0) appendUnion(track.data_wait_list, interval);
        if (info.kind == TrackKind::thread && (meaning(event) & kBeginsStep) != 0)
          activity_.steps.emplace_back(event.name, event.start_ns);
        if (info.kind == TrackKind::stream && (meaning(event) & kAnnotatesStep) != 0)
          appendUnion(track.step_list, interval);
        break;
      default: break;
    }
  }

  Trace& trace_;
  Activity& activity_;
  std::unordered_map<std::uint64_t, std::size_t> totals_;  // of this track
  std::unordered_map<std::uint64_t, std::uint8_t> meanings_;
  std::uint64_t last_key_ = 0;
  std::size_t last_total_ = 0;
};

}  // namespace

const char* toString(WorkClass work) {
  switch (work) {
    case WorkClass::computation: return "computation";
    case WorkClass::communication: return "communication";
    case WorkClass::copy: return "copy";
  }
  return "computation";
}

std::uint8_t meaningOf(std::string_view name, EventKind kind) {
  std::uint8_t meaning = kNoMeaning;
  if (kind == EventKind::api) {
    if (contains(name, "Synchronize") || name == "cudaMemcpy" || name == "hipMemcpy")
      meaning |= kSynchronises;
    if (contains(name, "LaunchKernel") || contains(name, "GraphLaunch") || contains(name, "ModuleLaunch"))
      meaning |= kLaunches;
  }
  if (kind == EventKind::copy && name.substr(0, 6) == "Memset") meaning |= kSetsMemory;
  if (kind == EventKind::operatorRun) {
    for (const std::string_view part : {"CopyCPU2", "CopyGPU2", "KVStore", "CopyPeer", "nccl", "allreduce"}) {
      if (contains(name, part)) meaning |= kTransfers;
    }
  }
  if (kind == EventKind::scope) {
    std::string lower(name);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const char* part :
         {"dataloader", "data_loading", "dataiter", "iteratorgetnext", "next batch", "load batch"}) {
      if (contains(lower, part)) meaning |= kReadsData;
    }
    for (const char* part : {"iteration", "train_step", "train step", "training step", "optimizer.step"}) {
      if (contains(lower, part)) meaning |= kBeginsStep;
    }
    if (lower == "step" || lower == "iter") meaning |= kBeginsStep;
    if (name.substr(0, 13) == "ProfilerStep#") meaning |= kAnnotatesStep;
  }
  return meaning;
}

Result<Activity> gatherActivity(Trace& trace) {
  Activity activity;
  if (auto status = Gatherer(trace, activity).run(); !status.has_value()) return fail(status.error());
  return activity;
}

LaunchIndex::LaunchIndex(std::span<const HostCall> calls, std::span<const Dependency> dependencies) {
  for (const auto& call : calls) {
    if (call.correlation != 0) calls_.emplace_back(call.correlation, &call);
  }
  const auto sort = [this] {
    const auto lower = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (!std::is_sorted(calls_.begin(), calls_.end(), lower)) std::sort(calls_.begin(), calls_.end(), lower);
  };
  sort();
  std::vector<std::pair<CorrelationId, const HostCall*>> launched;
  for (const auto& dependency : dependencies) {
    if (dependency.kind != DependencyKind::launch) continue;
    if (const auto* call = find(dependency.source)) launched.emplace_back(dependency.target, call);
  }
  calls_.insert(calls_.end(), launched.begin(), launched.end());
  sort();
}

Result<LaunchIndex> indexLaunches(Trace& trace, const Activity& activity) {
  std::vector<Dependency> dependencies;
  if (!activity.work.empty()) {
    auto all = trace.dependencies();
    if (!all.has_value()) return fail(all.error());
    dependencies = std::move(all).value();
  }
  return LaunchIndex(activity.calls, dependencies);
}

const HostCall* LaunchIndex::find(CorrelationId correlation) const {
  if (correlation == 0) return nullptr;
  const auto at = std::partition_point(calls_.begin(), calls_.end(),
                                       [correlation](const auto& call) { return call.first < correlation; });
  return at != calls_.end() && at->first == correlation ? at->second : nullptr;
}

}  // namespace pitwall::analysis
