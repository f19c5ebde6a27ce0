#include "analyzer/analysis/activity.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "analyzer/analysis/time_chunk_plan.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

// The events of a track come column by column, a chunk at a time, in the order in which they were recorded:
// an event that encloses others may come in a later chunk than those. So lists are sorted at the end of the
// track.
class Gatherer {
 public:
  Gatherer(Trace& trace, const Reading& reading, Activity& activity)
      : trace_(trace),
        reading_(reading),
        activity_(activity),
        last_mark_(trace.iterations().empty() ? INT64_MAX : trace.iterations().back().time_ns) {}

  Status run() {
    activity_.cuts = PITWALL_TRY(planTimeChunks(trace_, reading_.events_at_once));
    const auto tracks = trace_.tracks();
    // Many short tracks are read in groups under one lock, so that others can write in between.
    constexpr std::uint32_t kTracksHeld = 256;
    std::shared_ptr<void> hold;
    for (std::uint32_t i = 0; i < tracks.size(); ++i) {
      if (tracks.size() > kTracksHeld && i % kTracksHeld == 0) {
        hold.reset();
        hold = trace_.hold();
      }
      if (tracks[i].kind == TrackKind::counter) continue;
      PITWALL_TRY(gather(TrackId{i + 1}, tracks[i]));
      PITWALL_TRY(reading_.checkCancelled());
    }
    return {};
  }

 private:
  static constexpr EventFields kFields = kStart | kDur | kPushed | kValue | kName | kKind;

  Status gather(TrackId id, const TrackInfo& info) {
    const std::size_t first_name = activity_.names.size();
    TrackActivity track;
    track.id = id;
    auto status = trace_.eventColumns({.track = id, .fields = kFields}, [&](const EventSpans& events) {
      for (std::size_t i = 0; i < events.size; ++i) add(events, i, info, track);
      return !reading_.cancelled();
    });
    PITWALL_TRY(status);
    for (std::size_t i = first_name; i < activity_.names.size(); ++i) forget(activity_.names[i]);
    for (auto* list : {&track.data_wait_list, &track.wait_list, &track.bulk_list, &track.communication_list,
                       &track.sync_list, &track.step_list})
      *list = united(std::move(*list));
    const auto starts_before = [](const Interval& a, const Interval& b) {
      return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
    };
    std::sort(track.data_work_list.begin(), track.data_work_list.end(), starts_before);
    track.data_work_list = outermost(track.data_work_list);
    activity_.tracks.push_back(std::move(track));
    return {};
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
    }
    const std::uint8_t meaning = meanings_[slot];
    if (info.kind == TrackKind::stream && worksOnDevice(kind)) {
      ++track.device_work;
    } else if (kind == EventKind::operatorRun) {
      ++track.operators;
      track.operator_ns += dur;
      if (start >= last_mark_) track.operator_after_marks_ns += dur;
      addPush(info.process, start, std::min(events.pushed_ns[i], start));
    } else if (kind == EventKind::api) {
      ++track.calls;
      if ((meaning & kSynchronises) != 0) addInterval(track.sync_list, {start, end});
    } else if (kind == EventKind::scope) {
      addScope({start, end}, name, meaning, info, track);
    } else {
      addOther({start, end}, name, kind, track);
    }
  }

  void addPush(ProcessId process, TimeNs start, TimeNs pushed) {
    if (pushes_ == nullptr || pushes_of_ != process) {
      pushes_of_ = process;
      pushes_ = &activity_.earliest_push[process];
      pushes_->resize(activity_.cuts.size() + 1, INT64_MAX);
    }
    const auto& cuts = activity_.cuts;
    const bool within =
        (chunk_ == 0 || cuts[chunk_ - 1] <= start) && (chunk_ == cuts.size() || start < cuts[chunk_]);
    if (!within)
      chunk_ = static_cast<std::size_t>(std::upper_bound(cuts.begin(), cuts.end(), start) - cuts.begin());
    auto& earliest = (*pushes_)[chunk_];
    earliest = std::min(earliest, pushed);
  }

  void addScope(Interval interval, StringId name, std::uint8_t meaning, const TrackInfo& info,
                TrackActivity& track) {
    if ((meaning & kReadsData) != 0) addBatchWait(interval, name, track);
    if (info.kind == TrackKind::thread && (meaning & kBeginsStep) != 0)
      activity_.steps.push_back({name, track.id, interval.start_ns});
    if (info.kind == TrackKind::stream && (meaning & kAnnotatesStep) != 0)
      addInterval(track.step_list, interval);
  }

  static void addBatchWait(Interval interval, StringId name, TrackActivity& track) {
    addInterval(track.data_wait_list, interval);
    track.batch_waits.push_back({name, interval});
  }

  static void addOther(Interval interval, StringId name, EventKind kind, TrackActivity& track) {
    switch (kind) {
      case EventKind::bulk: addInterval(track.bulk_list, interval); break;
      case EventKind::communication: addInterval(track.communication_list, interval); break;
      case EventKind::dataWait:
        ++track.data_waits;
        addBatchWait(interval, name, track);
        break;
      case EventKind::wait:
        ++track.waits;
        addInterval(track.wait_list, interval);
        break;
      case EventKind::dataWork:
        ++track.data_works;
        addDataWork(track.data_work_list, interval);
        break;
      case EventKind::recorder: track.recorder_ns += interval.end_ns - interval.start_ns; break;
      default: break;
    }
  }

  // Reading, decoding and augmenting each image are parts of making a batch, usually recorded before it ends: they
  // are left out at once, so that the list does not grow with the images.
  static void addDataWork(Intervals& list, Interval work) {
    while (!list.empty() && list.back().start_ns >= work.start_ns && list.back().end_ns <= work.end_ns)
      list.pop_back();
    list.push_back(work);
  }

  // Without those within another one. In: by start, the longer first.
  static Intervals outermost(const Intervals& works) {
    Intervals result;
    for (const auto& work : works) {
      if (result.empty() || work.end_ns > result.back().end_ns) result.push_back(work);
    }
    return result;
  }

  static void total(NameTotal& sum, TimeNs dur, std::int64_t value) {
    if (sum.count == 0 || dur < sum.min_ns) sum.min_ns = dur;
    sum.max_ns = std::max(sum.max_ns, dur);
    ++sum.count;
    sum.items += value;
    sum.total_ns += dur;
  }

  // Where the sums of a name and kind on this track are.
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

  static constexpr std::size_t kKinds = 16;

  Trace& trace_;
  const Reading& reading_;
  Activity& activity_;
  const TimeNs last_mark_;
  std::array<std::vector<std::uint32_t>, kKinds>
      slots_;                              // by kind and name: index in names, from 1; 0 = none
  std::vector<std::uint8_t> meanings_;     // of names
  std::vector<TimeNs>* pushes_ = nullptr;  // by time chunk, of one process
  ProcessId pushes_of_;
  std::size_t chunk_ = 0;  // of the last operator
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

bool worksOnDevice(EventKind kind) {
  return kind == EventKind::kernel || kind == EventKind::copy || kind == EventKind::communication;
}

WorkClass workClassOf(EventKind kind, std::uint8_t meaning) {
  if (kind == EventKind::communication) return WorkClass::communication;
  if (kind != EventKind::copy) return WorkClass::computation;
  return (meaning & kSetsMemory) != 0 ? WorkClass::computation : WorkClass::copy;
}

std::uint8_t meaningOf(std::string_view name, EventKind kind) {
  std::uint8_t meaning = kNoMeaning;
  if (kind == EventKind::api) {
    if (contains(name, "Synchronize") || name == "cudaMemcpy" || name == "hipMemcpy")
      meaning |= kSynchronises;
    if (contains(name, "LaunchKernel") || contains(name, "GraphLaunch") || contains(name, "ModuleLaunch"))
      meaning |= kLaunches;
    if (contains(name, "GraphLaunch")) meaning |= kLaunchesGraph;
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
    // Programs that name each step differently count them: "step 12", "iter_12", "batch#12".
    const auto stem = std::string_view(lower).substr(0, lower.find_last_not_of(" _-#:=0123456789") + 1);
    for (const char* whole : {"step", "iter", "batch", "minibatch", "mini-batch", "train_batch"}) {
      if (stem == whole) meaning |= kBeginsStep;
    }
    if (name.substr(0, 13) == "ProfilerStep#") meaning |= kAnnotatesStep;
  }
  return meaning;
}

Result<Activity> gatherActivity(Trace& trace, const Reading& reading) {
  Activity activity;
  PITWALL_TRY(Gatherer(trace, reading, activity).run());
  return activity;
}

}  // namespace pitwall::analysis
