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

class Summing {
 public:
  explicit Summing(Trace& trace)
      : trace_(trace),
        first_iteration_(trace.iterations().empty() ? std::numeric_limits<TimeNs>::min()
                                                    : trace.iterations().front().time_ns) {}

  Result<ThreadStacks> ofTrack(TrackId id, const TrackInfo& info) {
    ThreadStacks result{info.thread, info.process, isFirst(info), 0, {}};
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
  bool isFirst(const TrackInfo& info) const {
    if (!info.thread || !info.process) return false;
    return trace_.threads()[info.thread.value - 1].tid == trace_.processes()[info.process.value - 1].pid;
  }

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

}  // namespace

Result<std::vector<ThreadStacks>> sumStacks(Trace& trace) {
  std::vector<ThreadStacks> all;
  Summing summing(trace);
  const auto tracks = trace.tracks();
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    if (tracks[i].kind != TrackKind::counter || tracks[i].unit != kStackUnit) continue;
    all.push_back(PITWALL_TRY(summing.ofTrack(TrackId{i + 1}, tracks[i])));
  }
  return all;
}

}  // namespace pitwall::analysis
