#include "analyzer/analysis/stack_sums.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "db/meta.h"
#include "db/stacks.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

constexpr double kLongestInIntervals = 20;

TimeNs longestGap(const Trace& trace) {
  const double hz = std::strtod(trace.meta(meta::kStackHz).value_or("").c_str(), nullptr);
  return hz > 0 ? static_cast<TimeNs>(kLongestInIntervals * 1e9 / hz) : std::numeric_limits<TimeNs>::max();
}

// Ranges that the program names itself and marks explain no time.
bool explains(EventKind kind) {
  return kind != EventKind::scope && kind != EventKind::instant && kind != EventKind::recorder;
}

class Summing {
 public:
  explicit Summing(Trace& trace)
      : trace_(trace),
        longest_gap_(longestGap(trace)),
        first_iteration_(trace.iterations().empty() ? std::numeric_limits<TimeNs>::min()
                                                    : trace.iterations().front().time_ns) {}

  Result<ThreadStacks> ofTrack(TrackId id, const TrackInfo& info) {
    ThreadStacks result{info.thread, info.process, isFirst(info), 0, {}};
    const auto samples = PITWALL_TRY(trace_.counters(id));
    const std::vector<bool> inside = PITWALL_TRY(insideEvents(info.thread, samples));
    for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
      const StackId stack = stackOf(samples[i], trace_.stacks().size());
      const TimeNs gap = samples[i + 1].time_ns - samples[i].time_ns;
      if (!stack || gap > longest_gap_) continue;
      StackTime& time = result.stacks[stack];
      ++time.samples;
      time.total_ns += gap;
      result.sampled_ns += gap;
      if (!inside[i]) time.outside_ns += gap;
      if (samples[i].time_ns < first_iteration_) time.startup_ns += gap;
    }
    return result;
  }

 private:
  bool isFirst(const TrackInfo& info) const {
    if (!info.thread || !info.process) return false;
    return trace_.threads()[info.thread.value - 1].tid == trace_.processes()[info.process.value - 1].pid;
  }

  // Of each sample, whether an event of its thread covers it.
  Result<std::vector<bool>> insideEvents(ThreadId thread, const std::vector<CounterSample>& samples) {
    std::vector<bool> inside(samples.size());
    const auto tracks = trace_.tracks();
    for (std::uint32_t i = 0; i < tracks.size() && thread; ++i) {
      if (tracks[i].kind != TrackKind::thread || tracks[i].thread != thread) continue;
      EventSelection selection;
      selection.track = TrackId{i + 1};
      selection.fields = kStart | kDur | kKind;
      PITWALL_TRY(trace_.eventColumns(selection, [&](const EventSpans& events) {
        for (std::size_t e = 0; e < events.size; ++e) {
          if (!explains(static_cast<EventKind>(events.kind[e]))) continue;
          auto at = std::ranges::lower_bound(samples, events.start_ns[e], {}, &CounterSample::time_ns);
          for (; at != samples.end() && at->time_ns - events.start_ns[e] < events.dur_ns[e]; ++at)
            inside[static_cast<std::size_t>(at - samples.begin())] = true;
        }
        return true;
      }));
    }
    return inside;
  }

  Trace& trace_;
  const TimeNs longest_gap_, first_iteration_;
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
