#include "runtime/profiler/cupti/writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace pitwall::cupti {

namespace {

// CUPTI and engines count their correlations from 1, the profiler from 2^48.
constexpr CorrelationId kCalls = CorrelationId{1} << 52U;
constexpr CorrelationId kDeviceWork = CorrelationId{1} << 53U;

}  // namespace

void setDepths(std::vector<Event>& events) {
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.dur_ns > b.dur_ns;
  });
  std::vector<TimeNs> open;  // ends
  for (Event& event : events) {
    const TimeNs end = event.start_ns + event.dur_ns;
    while (!open.empty() && (open.back() <= event.start_ns || open.back() < end)) open.pop_back();
    event.depth = static_cast<std::uint16_t>(std::min<std::size_t>(open.size(), 0xFFFF));
    open.push_back(end);
  }
}

DeviceId ActivityWriter::deviceOf(std::uint32_t index, DrainContext& context) {
  Device& device = devices_[index];
  if (!device.id) {
    const std::string name = device.facts.name.empty() ? "GPU" : device.facts.name;
    device.id = context.sink().device({"gpu", static_cast<int>(index), name, device.facts.memory_bytes});
  }
  return device.id;
}

std::uint32_t ActivityWriter::deviceIndexOf(const Activity& activity) const {
  if (activity.device) return *activity.device;
  const auto found = device_of_context_.find(activity.context);
  return found == device_of_context_.end() ? 0 : found->second;
}

TrackId ActivityWriter::trackOf(const Activity& activity, DrainContext& context) {
  const std::uint32_t device = deviceIndexOf(activity);
  TrackInfo info;
  info.process = context.process();
  switch (activity.place) {
    case Activity::Place::stream: info.name = fmt::format("gpu {} stream {}", device, activity.stream); break;
    case Activity::Place::synchronisation:
      info.name = fmt::format("gpu {} stream {}: synchronisation", device, activity.stream);
      break;
    case Activity::Place::thread: info.name = fmt::format("CUDA calls of {}", activity.tid); break;
    case Activity::Place::overhead: info.name = "CUPTI overhead"; break;
  }
  TrackId& track = tracks_[info.name];
  if (track) return track;
  if (activity.place == Activity::Place::thread) {
    info.thread = context.threadOf(activity.tid);
    info.name = "CUDA calls";
  } else if (activity.place != Activity::Place::overhead) {
    info.kind = TrackKind::stream;
    info.device = deviceOf(device, context);
  }
  track = context.sink().track(info);
  return track;
}

KernelId ActivityWriter::kernelOf(const Activity& activity, DrainContext& context) {
  if (!activity.launch) return {};
  const LaunchFacts& launch = *activity.launch;
  KernelFacts facts;
  facts.grid = launch.grid;
  facts.block = launch.block;
  facts.registers_per_thread = launch.registers_per_thread;
  facts.static_shared_bytes = launch.static_shared_bytes;
  facts.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  facts.local_bytes = launch.local_bytes;
  const auto device = devices_.find(deviceIndexOf(activity));
  if (device != devices_.end()) {
    const std::int64_t threads = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    Occupancy occupancy = theoreticalOccupancy(
        device->second.facts.limits,
        {threads, launch.registers_per_thread, launch.static_shared_bytes + launch.dynamic_shared_bytes,
         launch.shared_bytes_configured});
    facts.theoretical_occupancy = occupancy.share;
    facts.limiter = std::move(occupancy.limiter);
  }
  return context.sink().kernelFacts(facts);
}

// Every piece of device work has its own correlation and depends on its call; of a driver call within a
// runtime call of the same number, only the runtime call is used.
CorrelationId ActivityWriter::correlationOf(const Activity& activity) {
  if (activity.correlation == 0) return 0;
  const CorrelationId call = kCalls + activity.correlation;
  if (activity.place == Activity::Place::thread) {
    const bool is_inner = activity.is_driver_call && runtime_calls_.count(activity.correlation) != 0;
    return is_inner ? 0 : call;
  }
  const CorrelationId work = kDeviceWork + ++next_device_work_;
  dependencies_.push_back({call, work, DependencyKind::launch});
  return work;
}

void ActivityWriter::writeEvents(const Activities& activities, DrainContext& context) {
  std::map<TrackId, std::vector<Event>> by_track;
  for (const Activity& activity : activities.events) {
    if (activity.end < context.startTicks()) continue;
    Event event;
    event.start_ns = event.pushed_ns = event.ready_ns = context.toNs(activity.start);
    event.dur_ns = std::max<TimeNs>(0, context.toNs(activity.end) - event.start_ns);
    event.kind = activity.kind;
    event.name = context.sink().string(activity.name);
    if (!activity.args.empty()) event.args = context.sink().string(activity.args);
    event.value = activity.value;
    event.kernel = kernelOf(activity, context);
    event.correlation = correlationOf(activity);
    by_track[trackOf(activity, context)].push_back(event);
  }
  for (auto& [track, events] : by_track) {
    setDepths(events);
    context.sink().events(track, events);
  }
}

void ActivityWriter::writeMemory(const std::vector<MemoryChange>& changes, DrainContext& context) {
  std::vector<MemoryChange> ordered = changes;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const MemoryChange& a, const MemoryChange& b) { return a.time < b.time; });
  for (const MemoryChange& change : ordered) {
    const std::string name = fmt::format("memory live: gpu {} {}", change.device, change.kind);
    Memory& memory = memory_[name];
    if (!memory.track) {
      TrackInfo info;
      info.kind = TrackKind::counter;
      info.process = context.process();
      info.device = deviceOf(change.device, context);
      info.name = name;
      info.unit = "bytes";
      memory.track = context.sink().track(info);
    }
    // Memory allocated before the recording began is freed without having been counted.
    memory.live = std::max(0.0, memory.live + static_cast<double>(change.delta));
    const CounterSample sample{context.toNs(change.time), memory.live};
    context.sink().counters(memory.track, {&sample, 1});
  }
}

void ActivityWriter::write(const Activities& activities, DrainContext& context) {
  for (const DeviceFacts& facts : activities.devices) devices_[facts.index].facts = facts;
  for (const ContextFacts& facts : activities.contexts) device_of_context_[facts.context] = facts.device;
  runtime_calls_.clear();
  dependencies_.clear();
  for (const Activity& activity : activities.events) {
    if (activity.place == Activity::Place::thread && !activity.is_driver_call)
      runtime_calls_.insert(activity.correlation);
  }
  writeEvents(activities, context);
  for (const OperatorLink& link : activities.links)
    dependencies_.push_back({link.op, kCalls + link.correlation, DependencyKind::launch});
  if (!dependencies_.empty()) context.sink().dependencies(dependencies_);
  writeMemory(activities.memory, context);
  lost(activities.without_time, "no space in the GPU's memory for a record's times", context);
}

void ActivityWriter::lost(std::int64_t count, const std::string& reason, DrainContext& context) {
  const TimeNs now = context.toNs(Profiler::now());
  if (count > 0) context.sink().loss({{}, lost_until_, now, count, reason});
  lost_until_ = now;
}

}  // namespace pitwall::cupti
