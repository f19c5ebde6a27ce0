#include "analyzer/analysis/stack_sums.h"

#include <algorithm>
#include <limits>

#include "db/stacks.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

using CounterSamples = std::vector<CounterSample>;

TimeNs cappedEnd(TimeNs start_ns, TimeNs dur_ns) {
  TimeNs end = 0;
  return __builtin_add_overflow(start_ns, dur_ns, &end) ? std::numeric_limits<TimeNs>::max() : end;
}

// Ranges that the program names itself and marks explain no time.
bool explains(EventKind kind) {
  return kind != EventKind::scope && kind != EventKind::instant && kind != EventKind::recorder;
}

constexpr TimeNs kNoTime = std::numeric_limits<TimeNs>::min();

bool isOfFirstThread(const Trace& trace, const TrackInfo& info) {
  if (!info.thread || !info.process) return false;
  return trace.threads()[info.thread.value - 1].tid == trace.processes()[info.process.value - 1].pid;
}

// Of each stack, whether it is within an import.
std::vector<bool> importingStacks(const Trace& trace) {
  std::vector<bool> importing;
  for (const StackInfo& stack : trace.stacks()) {
    const bool in_caller = stack.caller && importing[stack.caller.value - 1];
    importing.push_back(in_caller ||
                        trace.frames()[stack.frame.value - 1].file.starts_with("<frozen importlib"));
  }
  return importing;
}

class Summing {
 public:
  // Time before the first iteration, or without iterations before `begin_ns`, is start-up.
  Summing(Trace& trace, TimeNs begin_ns)
      : trace_(trace),
        first_iteration_(trace.iterations().empty() ? begin_ns : trace.iterations().front().time_ns) {}

  Result<ThreadStacks> ofTrack(TrackId id, const TrackInfo& info) {
    ThreadStacks result{info.thread, info.process, isOfFirstThread(trace_, info), 0, {}};
    const CounterSamples samples = PITWALL_TRY(trace_.counters(id));
    const std::vector<TimeNs> times = stackTimes(samples);
    const std::vector<bool> inside = PITWALL_TRY(insideEvents(info.thread, samples));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const StackId stack = stackOf(samples[i], trace_.stacks().size());
      if (!stack || times[i] == 0) continue;
      StackTime& time = result.stacks[stack];
      ++time.samples;
      time.total_ns += times[i];
      result.sampled_ns += times[i];
      if (!inside[i]) time.outside_ns += times[i];
      if (samples[i].time_ns < first_iteration_) time.startup_ns += times[i];
    }
    return result;
  }

 private:
  // Of each sample, whether an event of its thread covers it. Each event adds 1 from the first sample that it covers,
  // and takes it away after the last one.
  Result<std::vector<bool>> insideEvents(ThreadId thread, const CounterSamples& samples) {
    std::vector<std::int64_t> changes(samples.size() + 1);
    const auto placeOf = [&](TimeNs time_ns) {
      const auto at = std::ranges::lower_bound(samples, time_ns, {}, &CounterSample::time_ns);
      return static_cast<std::size_t>(at - samples.begin());
    };
    const auto tracks = trace_.tracks();
    for (std::uint32_t i = 0; i < tracks.size() && thread; ++i) {
      if (tracks[i].kind != TrackKind::thread || tracks[i].thread != thread) continue;
      EventSelection selection;
      selection.track = TrackId{i + 1};
      selection.fields = kStart | kDur | kKind;
      PITWALL_TRY(trace_.eventColumns(selection, [&](const EventSpans& events) {
        for (std::size_t e = 0; e < events.size; ++e) {
          if (!explains(static_cast<EventKind>(events.kind[e])) || events.dur_ns[e] <= 0) continue;
          ++changes[placeOf(events.start_ns[e])];
          --changes[placeOf(cappedEnd(events.start_ns[e], events.dur_ns[e]))];
        }
        return true;
      }));
    }
    std::vector<bool> inside(samples.size());
    std::int64_t open = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) inside[i] = (open += changes[i]) > 0;
    return inside;
  }

  Trace& trace_;
  const TimeNs first_iteration_;
};

Result<std::vector<ThreadStacks>> sumTracks(Trace& trace, bool native_functions, TimeNs begin_ns) {
  std::vector<ThreadStacks> all;
  Summing summing(trace, begin_ns);
  const auto tracks = trace.tracks();
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    if (tracks[i].kind != TrackKind::counter || tracks[i].unit != kStackUnit) continue;
    if ((tracks[i].name == kNativeFunctionTrack) != native_functions) continue;
    all.push_back(PITWALL_TRY(summing.ofTrack(TrackId{i + 1}, tracks[i])));
  }
  return all;
}

}  // namespace

Result<std::vector<ThreadStacks>> sumStacks(Trace& trace) { return sumTracks(trace, false, kNoTime); }

Result<std::vector<ThreadStacks>> sumNativeFunctions(Trace& trace) {
  const TimeNs begin_ns = PITWALL_TRY(importsEnd(trace));
  return sumTracks(trace, true, begin_ns);
}

Result<TimeNs> importsEnd(Trace& trace) {
  TimeNs end_ns = kNoTime;
  const std::vector<bool> importing = importingStacks(trace);
  const auto tracks = trace.tracks();
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    const TrackInfo& info = tracks[i];
    if (info.kind != TrackKind::counter || info.unit != kStackUnit || info.name == kNativeFunctionTrack ||
        !isOfFirstThread(trace, info))
      continue;
    const CounterSamples samples = PITWALL_TRY(trace.counters(TrackId{i + 1}));
    for (std::size_t s = 0; s + 1 < samples.size() / 2; ++s) {
      const StackId stack = stackOf(samples[s], importing.size());
      if (stack && importing[stack.value - 1]) end_ns = std::max(end_ns, samples[s + 1].time_ns);
    }
  }
  return end_ns;
}

}  // namespace pitwall::analysis
