#include "runtime/profiler/cupti/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "db/meta.h"
#include "db/torch_ranges.h"

namespace pitwall::cupti {

namespace {

// CUPTI and engines count their correlations from 1, the profiler from 2^48.
constexpr CorrelationId kCalls = CorrelationId{1} << 52U;
constexpr CorrelationId kDeviceWork = CorrelationId{1} << 53U;

constexpr std::uint64_t kOfHost = std::uint64_t{1} << 59U;  // in keys of tracks, beside devices

bool isOfUnifiedMemory(const Activity& activity) {
  return activity.place == Activity::Place::migrations || activity.place == Activity::Place::pageFaults;
}

bool isOfDevice(const Activity& activity) {
  switch (activity.place) {
    case Activity::Place::thread:
    case Activity::Place::overhead: return false;
    case Activity::Place::pageFaults: return activity.device.has_value();
    default: return true;
  }
}

// The driver takes the times of unified memory itself, and CUPTI's documentation does not say that it converts them to
// the recorder's clock. Clocks with other units or another zero differ by far more than a factor of two.
bool isOfAnotherClock(const Activity& activity, const DrainContext& context) {
  const Ticks now = Profiler::now();
  return activity.end < context.startTicks() / 2 || activity.start > now + now / 2;
}

double shareOfWarps(const MultiprocessorLimits& limits, std::int64_t threads_per_block, int blocks) {
  if (limits.warps <= 0 || limits.warp_size <= 0) return 0;
  const std::int64_t warps = (threads_per_block + limits.warp_size - 1) / limits.warp_size * blocks;
  return std::min(1.0, static_cast<double>(warps) / limits.warps);
}

// As PyTorch's profiler names them.
void writeMeta(const DeviceFacts& facts, DrainContext& context) {
  const auto write = [&](const char* name, std::int64_t value) {
    if (value <= 0) return;
    context.sink().meta(fmt::format("{}gpu.{}.{}", meta::kDevicePrefix, facts.index, name),
                        std::to_string(value));
  };
  const MultiprocessorLimits& limits = facts.limits;
  write("total_global_mem", facts.memory_bytes);
  write("num_sms", facts.multiprocessors);
  write("compute_major", limits.compute_major);
  if (limits.compute_major > 0)
    context.sink().meta(fmt::format("{}gpu.{}.compute_minor", meta::kDevicePrefix, facts.index),
                        std::to_string(limits.compute_minor));
  write("warp_size", limits.warp_size);
  write("max_threads_per_multiprocessor", std::int64_t{limits.warps} * limits.warp_size);
  write("regs_per_multiprocessor", limits.registers);
  write("shared_mem_per_multiprocessor", limits.shared_bytes);
}

}  // namespace

void setDepths(std::vector<Event>& events) {
  const auto before = [](const Event& a, const Event& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.dur_ns > b.dur_ns;
  };
  if (!std::is_sorted(events.begin(), events.end(), before)) std::sort(events.begin(), events.end(), before);
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

TrackId ActivityWriter::newTrack(const Activity& activity, std::uint32_t device, DrainContext& context) {
  TrackInfo info;
  info.process = context.process();
  switch (activity.place) {
    case Activity::Place::stream: info.name = fmt::format("gpu {} stream {}", device, activity.stream); break;
    case Activity::Place::synchronisation:
      info.name = fmt::format("gpu {} stream {}: synchronisation", device, activity.stream);
      break;
    case Activity::Place::migrations: info.name = fmt::format("gpu {} unified memory", device); break;
    case Activity::Place::pageFaults:
      info.name = activity.device ? fmt::format("gpu {} unified memory: page faults", device)
                                  : "unified memory: page faults";
      break;
    case Activity::Place::counted: info.name = fmt::format("gpu {} {}", device, kCountedRanges); break;
    case Activity::Place::thread: info.name = "CUDA calls"; break;
    case Activity::Place::overhead: info.name = "CUPTI overhead"; break;
  }
  if (activity.place == Activity::Place::thread) {
    info.thread = context.threadOf(activity.tid);
  } else if (isOfDevice(activity)) {
    info.kind = TrackKind::stream;
    info.device = deviceOf(device, context);
  }
  return context.sink().track(info);
}

ActivityWriter::Track& ActivityWriter::trackOf(const Activity& activity, DrainContext& context) {
  const auto place = static_cast<std::uint64_t>(activity.place) << 60U;
  if (!isOfDevice(activity)) {
    const bool is_thread = activity.place == Activity::Place::thread;
    Track& track = tracks_[place | (is_thread ? static_cast<std::uint64_t>(activity.tid) : kOfHost)];
    if (!track.id) track.id = newTrack(activity, 0, context);
    return track;
  }
  const std::uint32_t device = deviceIndexOf(activity);
  Track& track = tracks_[place | (static_cast<std::uint64_t>(device & 0xFFFFU) << 32U) | activity.stream];
  if (!track.id) track.id = newTrack(activity, device, context);
  return track;
}

StringId ActivityWriter::stringOf(const Text* text, DrainContext& context) {
  if (text == nullptr) return {};
  if (strings_.size() <= text->number) strings_.resize(text->number + 1);
  StringId& id = strings_[text->number];
  if (!id) id = context.sink().string(text->text);
  return id;
}

std::size_t ActivityWriter::LaunchHash::operator()(const LaunchKey& key) const {
  std::uint64_t hash = key.device;
  const auto mix = [&hash](std::int64_t part) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  };
  for (const auto& extent : {key.launch.grid, key.launch.block})
    for (const std::int32_t part : extent) mix(part);
  mix(key.launch.registers_per_thread);
  mix(key.launch.static_shared_bytes + key.launch.dynamic_shared_bytes);
  mix(key.launch.shared_bytes_configured);
  return hash;
}

KernelId ActivityWriter::kernelOf(const Activity& activity, const Activities& activities,
                                  DrainContext& context) {
  if (activity.launch < 0) return {};
  const LaunchKey key{activities.launches[static_cast<std::size_t>(activity.launch)],
                      deviceIndexOf(activity)};
  const auto [known, is_new] = kernels_.try_emplace(key);
  if (!is_new) return known->second;
  const LaunchFacts& launch = key.launch;
  KernelFacts facts;
  facts.grid = launch.grid;
  facts.block = launch.block;
  facts.registers_per_thread = launch.registers_per_thread;
  facts.static_shared_bytes = launch.static_shared_bytes;
  facts.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  facts.local_bytes = launch.local_bytes;
  const auto device = devices_.find(key.device);
  const std::int64_t threads = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  if (device != devices_.end() && launch.resident_blocks > 0) {
    facts.theoretical_occupancy = shareOfWarps(device->second.facts.limits, threads, launch.resident_blocks);
  } else if (device != devices_.end() && launch.registers_per_thread > 0) {
    Occupancy occupancy = theoreticalOccupancy(
        device->second.facts.limits,
        {threads, launch.registers_per_thread, launch.static_shared_bytes + launch.dynamic_shared_bytes,
         launch.shared_bytes_configured});
    facts.theoretical_occupancy = occupancy.share;
    facts.limiter = std::move(occupancy.limiter);
  }
  return known->second = context.sink().kernelFacts(facts);
}

// Every piece of device work has its own correlation and depends on its call; of a driver call within a
// runtime call of the same number, only the runtime call is used.
CorrelationId ActivityWriter::correlationOf(const Activity& activity) {
  if (activity.correlation == 0) return 0;
  const CorrelationId call = kCalls + activity.correlation;
  if (activity.place == Activity::Place::thread) {
    const bool is_inner = activity.is_driver_call && inner_calls_.count(activity.correlation) != 0;
    return is_inner ? 0 : call;
  }
  const CorrelationId work = kDeviceWork + ++next_device_work_;
  dependencies_.push_back({call, work, DependencyKind::launch});
  return work;
}

// Driver calls are few, runtime calls many.
void ActivityWriter::findInnerCalls(const Activities& activities) {
  inner_calls_.clear();
  std::unordered_set<std::uint32_t> of_driver;
  for (const Activity& activity : activities.events)
    if (activity.is_driver_call) of_driver.insert(activity.correlation);
  if (of_driver.empty()) return;
  for (const Activity& activity : activities.events) {
    if (activity.place == Activity::Place::thread && !activity.is_driver_call &&
        of_driver.count(activity.correlation) != 0)
      inner_calls_.insert(activity.correlation);
  }
}

// CUPTI records a query of an event or a stream that finds its work done as a synchronisation. Calls that wait are
// recorded, queries are not: what has no call, in this drain or the next one, is a query.
void ActivityWriter::dropQueries(const Activities& activities) {
  earlier_waits_.swap(waits_);
  waits_.clear();
  for (const Activity& activity : activities.events)
    if (activity.may_be_query) waits_.push_back(activity);
  if (waits_.empty() && earlier_waits_.empty()) return;
  std::unordered_set<std::uint32_t> without_call;
  for (const auto* some : {&waits_, &earlier_waits_})
    for (const Activity& wait : *some) without_call.insert(wait.correlation);
  for (const Activity& activity : activities.events)
    if (activity.place == Activity::Place::thread) without_call.erase(activity.correlation);
  const auto has_no_call = [&](const Activity& wait) { return without_call.count(wait.correlation) != 0; };
  std::erase_if(earlier_waits_, has_no_call);
  const auto without = std::stable_partition(waits_.begin(), waits_.end(), has_no_call);
  earlier_waits_.insert(earlier_waits_.end(), without, waits_.end());
  waits_.erase(without, waits_.end());
}

void ActivityWriter::addEvent(const Activity& activity, const Activities& activities, DrainContext& context) {
  if (isOfUnifiedMemory(activity) && isOfAnotherClock(activity, context)) {
    ++of_another_clock_;
    return;
  }
  if (activity.end < context.startTicks()) return;
  Event event;
  event.start_ns = event.pushed_ns = event.ready_ns = context.toNs(activity.start);
  event.dur_ns = std::max<TimeNs>(0, context.toNs(activity.end) - event.start_ns);
  event.kind = activity.kind;
  event.name = stringOf(activity.name, context);
  event.args = stringOf(activity.args, context);
  event.value = activity.value;
  event.kernel = kernelOf(activity, activities, context);
  event.correlation = correlationOf(activity);
  trackOf(activity, context).events.push_back(event);
}

void ActivityWriter::writeEvents(const Activities& activities, DrainContext& context) {
  for (const Activity& activity : activities.events)
    if (!activity.may_be_query) addEvent(activity, activities, context);
  for (const Activity& wait : earlier_waits_) addEvent(wait, activities, context);
  for (auto& [key, track] : tracks_) {
    if (track.events.empty()) continue;
    setDepths(track.events);
    context.sink().events(track.id, track.events);
    track.events.clear();
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

// One sample of each counter at the start of each kernel, as traces of PyTorch have them.
void ActivityWriter::writeCounters(const std::vector<CounterValue>& values, DrainContext& context) {
  if (values.empty()) return;
  context.sink().meta(meta::kSerialisedKernels, "1");
  std::map<std::pair<std::uint32_t, const Text*>, std::vector<CounterSample>> samples;
  for (const CounterValue& value : values)
    samples[{value.device, value.name}].push_back({context.toNs(value.time), value.value});
  for (auto& [key, of_one] : samples) {
    TrackId& track = counters_[key];
    if (!track) {
      TrackInfo info;
      info.kind = TrackKind::counter;
      info.process = context.process();
      info.device = deviceOf(key.first, context);
      info.name = fmt::format("gpu {}: {}", key.first, key.second->text);
      info.unit = "counted";
      track = context.sink().track(info);
    }
    std::sort(of_one.begin(), of_one.end(),
              [](const CounterSample& a, const CounterSample& b) { return a.time_ns < b.time_ns; });
    context.sink().counters(track, of_one);
  }
}

void ActivityWriter::write(const Activities& activities, DrainContext& context) {
  for (const DeviceFacts& facts : activities.devices) {
    devices_[facts.index].facts = facts;
    writeMeta(facts, context);
  }
  for (const ContextFacts& facts : activities.contexts) device_of_context_[facts.context] = facts.device;
  dependencies_.clear();
  findInnerCalls(activities);
  dropQueries(activities);
  writeEvents(activities, context);
  for (const OperatorLink& link : activities.links)
    dependencies_.push_back({link.op, kCalls + link.correlation, DependencyKind::launch});
  if (!dependencies_.empty()) context.sink().dependencies(dependencies_);
  writeMemory(activities.memory, context);
  writeCounters(activities.counters, context);
  lost(activities.without_time, "without times: not finished, or no space in the GPU's memory", context);
  lost(std::exchange(of_another_clock_, 0), "of unified memory, with times of another clock", context);
}

void ActivityWriter::lost(std::int64_t count, const std::string& reason, DrainContext& context) {
  const TimeNs now = context.toNs(Profiler::now());
  if (count > 0) context.sink().loss({{}, lost_until_, now, count, reason});
  lost_until_ = now;
}

}  // namespace pitwall::cupti
