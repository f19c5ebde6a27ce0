#include "analyzer/analysis/activity.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>

namespace pitwall::analysis {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool isDeviceWork(EventKind kind) {
  return kind == EventKind::kernel || kind == EventKind::copy || kind == EventKind::communication;
}

// The events of a track come column by column, a chunk at a time, in the order in which they were recorded:
// an event that encloses others may come in a later chunk than they. So lists are put in order at the track's
// end.
class Gatherer {
 public:
  Gatherer(Trace& trace, Activity& activity) : trace_(trace), activity_(activity) {}

  Status run() {
    if (auto status = reserve(); !status.has_value()) return status;
    const auto tracks = trace_.tracks();
    // Very many short tracks are read so many at a time under one lock: others may write in between.
    constexpr std::uint32_t kTracksHeld = 256;
    std::shared_ptr<void> hold;
    for (std::uint32_t i = 0; i < tracks.size(); ++i) {
      if (tracks.size() > kTracksHeld && i % kTracksHeld == 0) {
        hold.reset();
        hold = trace_.hold();
      }
      if (tracks[i].kind == TrackKind::counter) continue;
      if (auto status = gather(TrackId{i + 1}, tracks[i]); !status.has_value()) return status;
    }
    activity_.operators_of_track.push_back(activity_.operators.size());
    activity_.work_of_track.push_back(activity_.work.size());
    return {};
  }

 private:
  // The file's own sums tell how many there will be: no list grows by being copied.
  Status reserve() {
    auto counts = trace_.query("SELECT kind, sum(count) FROM event_stats GROUP BY kind");
    if (!counts.has_value()) return fail(counts.error());
    std::size_t work = 0;
    for (const auto& row : counts.value().rows) {
      const auto* kind = std::get_if<std::string>(&row[0]);
      const auto* number = std::get_if<std::int64_t>(&row[1]);
      if (kind == nullptr || number == nullptr) continue;
      // Bounded, as the counts are the file's word.
      const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(*number, 0, 1 << 28));
      if (*kind == toString(EventKind::operatorRun)) activity_.operators.reserve(count);
      if (*kind == toString(EventKind::api)) activity_.calls.reserve(count);
      for (const auto device : {EventKind::kernel, EventKind::copy, EventKind::communication})
        work += *kind == toString(device) ? count : 0;
    }
    activity_.work.reserve(work);
    return {};
  }

  static constexpr EventFields kFields =
      kStart | kDur | kPushed | kCorrelation | kValue | kName | kOperator | kKernel | kArgs | kKind;

  Status gather(TrackId id, const TrackInfo& info) {
    activity_.operators_of_track.push_back(activity_.operators.size());
    activity_.work_of_track.push_back(activity_.work.size());
    const std::size_t first_name = activity_.names.size(), first_call = activity_.calls.size();
    TrackActivity track;
    track.id = id;
    busy_.clear();
    auto status = trace_.eventColumns({.track = id, .fields = kFields}, [&](const EventSpans& events) {
      for (std::size_t i = 0; i < events.size; ++i) add(events, i, info, track);
      return true;
    });
    if (!status.has_value()) return status;
    for (std::size_t i = first_name; i < activity_.names.size(); ++i) forget(activity_.names[i]);
    order(activity_.operators, activity_.operators_of_track.back());
    order(activity_.work, activity_.work_of_track.back());
    order(activity_.calls, first_call);
    for (auto* list : {&track.data_wait_list, &track.wait_list, &track.bulk_list, &track.data_work_list,
                       &track.sync_list, &track.step_list})
      *list = united(std::move(*list));
    busy_ = united(std::move(busy_));
    track.busy_ns = covered(busy_);
    activity_.tracks.push_back(std::move(track));
    return {};
  }

  template <typename T>
  static void order(std::vector<T>& list, std::size_t from) {
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(from);
    const auto earlier = [](const T& a, const T& b) {
      return std::tie(a.start_ns, a.end_ns, a.correlation) < std::tie(b.start_ns, b.end_ns, b.correlation);
    };
    if (!std::is_sorted(begin, list.end(), earlier)) std::sort(begin, list.end(), earlier);
  }

  void add(const EventSpans& events, std::size_t i, const TrackInfo& info, TrackActivity& track) {
    const auto kind = static_cast<EventKind>(events.kind[i]);
    const TimeNs start = events.start_ns[i], dur = events.dur_ns[i], end = start + dur;
    const StringId name{static_cast<std::uint32_t>(events.name[i])};
    const std::size_t slot = slotOf(name, kind, info);
    total(activity_.names[slot], dur, events.value[i]);
    if (kind != EventKind::recorder) {
      if (track.events == 0 || start < track.first_ns) track.first_ns = start;
      if (track.events == 0 || end > track.last_ns) track.last_ns = end;
      ++track.events;
      if (info.kind == TrackKind::thread) addInterval(busy_, {start, end});
    }
    const auto correlation = static_cast<CorrelationId>(events.correlation[i]);
    const std::uint8_t meaning = meanings_[slot];
    if (info.kind == TrackKind::stream && isDeviceWork(kind)) {
      ++track.device_work;
      activity_.work.push_back({start, end, correlation, events.value[i], name,
                                StringId{static_cast<std::uint32_t>(events.args[i])}, track.id,
                                static_cast<std::uint32_t>(events.kernel[i]), classOf(kind, meaning)});
    } else if (kind == EventKind::operatorRun) {
      ++track.operators;
      activity_.operators.push_back({start, end, std::min(events.pushed_ns[i], start), correlation,
                                     OperatorId{static_cast<std::uint32_t>(events.op[i])}, track.id.value});
    } else if (kind == EventKind::api) {
      activity_.calls.push_back({start, end, correlation, name, track.id});
      if ((meaning & kSynchronises) != 0) addInterval(track.sync_list, {start, end});
    } else if (kind == EventKind::scope) {
      addScope({start, end}, name, meaning, info, track);
    } else {
      addOther({start, end}, kind, track);
    }
  }

  void addScope(Interval interval, StringId name, std::uint8_t meaning, const TrackInfo& info,
                TrackActivity& track) {
    if ((meaning & kReadsData) != 0) addInterval(track.data_wait_list, interval);
    if (info.kind == TrackKind::thread && (meaning & kBeginsStep) != 0)
      activity_.steps.emplace_back(name, interval.start_ns);
    if (info.kind == TrackKind::stream && (meaning & kAnnotatesStep) != 0)
      addInterval(track.step_list, interval);
  }

  static void addOther(Interval interval, EventKind kind, TrackActivity& track) {
    switch (kind) {
      case EventKind::bulk: addInterval(track.bulk_list, interval); break;
      case EventKind::dataWait:
        ++track.data_waits;
        addInterval(track.data_wait_list, interval);
        break;
      case EventKind::wait:
        ++track.waits;
        addInterval(track.wait_list, interval);
        break;
      case EventKind::dataWork:
        ++track.data_works;
        track.data_work_ns += interval.end_ns - interval.start_ns;
        addInterval(track.data_work_list, interval);
        break;
      case EventKind::recorder: track.recorder_ns += interval.end_ns - interval.start_ns; break;
      default: break;
    }
  }

  static void total(NameTotal& sum, TimeNs dur, std::int64_t value) {
    if (sum.count == 0 || dur < sum.min_ns) sum.min_ns = dur;
    sum.max_ns = std::max(sum.max_ns, dur);
    ++sum.count;
    sum.items += value;
    sum.total_ns += dur;
  }

  // Where the sums of a name and kind on this track lie.
  std::size_t slotOf(StringId name, EventKind kind, const TrackInfo& info) {
    auto& slots = slots_[static_cast<std::size_t>(kind) % kKinds];
    if (name.value < slots.size() && slots[name.value] != 0) return slots[name.value] - 1;
    if (name.value >= slots.size()) slots.resize(std::size_t{name.value} + 1, 0);
    activity_.names.push_back({name, kind, info.kind, info.process});
    meanings_.push_back(meaningOf(trace_.string(name), kind));
    slots[name.value] = static_cast<std::uint32_t>(activity_.names.size());
    return activity_.names.size() - 1;
  }

  void forget(const NameTotal& name) {
    slots_[static_cast<std::size_t>(name.kind) % kKinds][name.name.value] = 0;
  }

  // A memset is work of the device like a kernel, though it is written as a copy.
  static WorkClass classOf(EventKind kind, std::uint8_t meaning) {
    if (kind == EventKind::communication) return WorkClass::communication;
    if (kind != EventKind::copy) return WorkClass::computation;
    return (meaning & kSetsMemory) != 0 ? WorkClass::computation : WorkClass::copy;
  }

  static constexpr std::size_t kKinds = 16;

  Trace& trace_;
  Activity& activity_;
  std::array<std::vector<std::uint32_t>, kKinds>
      slots_;                           // by kind and name: index in names, from 1; 0 = none
  std::vector<std::uint8_t> meanings_;  // of names
  Intervals busy_;                      // of this track
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

}  // namespace pitwall::analysis
