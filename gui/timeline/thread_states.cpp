#include "gui/timeline/thread_states.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "db/try.h"
namespace pitwall::gui {
namespace {

constexpr double kMostly = 0.5;  // of the time until the next sample

ThreadActivity activityOf(int state) {
  switch (state) {
    case 0: return ThreadActivity::running;
    case 1: return ThreadActivity::lock;
    case 2:
    case 3:
    case 5:
    case 6:
    case 7:
    case 12:
    case 13: return ThreadActivity::waiting;
    case 4: return ThreadActivity::sleeping;
    case 8:
    case 9:
    case 10: return ThreadActivity::storage;
    case 11: return ThreadActivity::kernel;
    default: return ThreadActivity::stopped;
  }
}

// The moments at which that thread's stack was sampled.
Result<CounterSeries> spinsOf(Trace& trace, TrackId track, const std::vector<bool>& spinning) {
  auto samples = PITWALL_TRY(trace.counters(track));
  for (CounterSample& sample : samples) {
    const auto stack = static_cast<std::size_t>(sample.value);
    sample.value = sample.value >= 1 && stack <= spinning.size() && spinning[stack - 1] ? 1 : 0;
  }
  return CounterSeries(samples);
}

// By StackId.value - 1.
std::vector<bool> spinningStacks(const Trace& trace) {
  std::vector<bool> frames;
  for (const FrameInfo& frame : trace.frames()) frames.push_back(isSpinFunction(frame.function));
  std::vector<bool> stacks;
  for (const StackInfo& stack : trace.stacks()) {
    const std::size_t frame = stack.frame.value;
    stacks.push_back(frame >= 1 && frame <= frames.size() && frames[frame - 1]);
  }
  return stacks;
}

}  // namespace

const char* describe(ThreadActivity activity) {
  static constexpr const char* kTexts[] = {
      "runs",   "spins: uses a CPU and waits", "ready, waits for a CPU", "waits for a lock", "waits",
      "sleeps", "waits for storage",           "waits in the kernel",    "is stopped"};
  static_assert(std::size(kTexts) == kThreadActivities);
  return kTexts[static_cast<std::size_t>(activity)];
}

ThreadActivity activityAt(const Lane& states, std::size_t i) {
  return static_cast<ThreadActivity>(states.color(i) - kStateColor);
}

bool isSpinFunction(std::string_view function) {
  static constexpr std::array<std::string_view, 9> kParts = {"[libgomp",
                                                             "[libomp",
                                                             "[libiomp5",
                                                             "gomp_barrier_wait",
                                                             "gomp_team_barrier_wait",
                                                             "gomp_mutex_lock_slow",
                                                             "__kmp_hyper_barrier",
                                                             "__kmp_flag_64",
                                                             "pthread_spin_lock"};
  return std::ranges::any_of(kParts,
                             [&](std::string_view part) { return function.find(part) != function.npos; });
}

Lane statesOf(const CounterSeries& state, const CounterSeries& waiting, const CounterSeries& spins) {
  Lane lane;
  const std::size_t count = state.size();
  TimeNs begin = 0;
  std::optional<ThreadActivity> open;
  const auto close = [&](TimeNs end) {
    if (open && end > begin)
      lane.append(begin, end - begin, 0, static_cast<ColorIndex>(kStateColor + static_cast<int>(*open)));
    begin = end;
  };
  for (std::size_t i = 0; i < count; ++i) {
    ThreadActivity activity = activityOf(static_cast<int>(state.value(i)));
    const TimeNs at = state.timeNs(i);
    if (activity == ThreadActivity::running) {
      const std::size_t w = waiting.at(at), s = spins.at(at);
      if (w < waiting.size() && waiting.value(w) > kMostly) {
        activity = ThreadActivity::ready;
      } else if (s < spins.size() && spins.value(s) > 0) {
        activity = ThreadActivity::spinning;
      }
    }
    if (activity == open) continue;
    close(at);
    begin = at;
    open = activity;
  }
  if (count > 0) {
    const TimeNs last = state.timeNs(count - 1);
    close(last + (count > 1 ? std::max<TimeNs>(1, last - state.timeNs(count - 2)) : 1));
  }
  return lane;
}

Status addThreadStates(Trace& trace, Timeline& timeline) {
  struct Sampled {
    const CounterSeries *state = nullptr, *waiting = nullptr;
    std::size_t row = kNoTrack;
  };
  std::map<std::uint32_t, Sampled> threads;
  const auto infos = trace.tracks();
  for (const TimelineTrack& track : timeline.tracks) {
    if (track.parent == kNoTrack || track.id.value > infos.size()) continue;
    const std::string& name = infos[track.id.value - 1].name;
    Sampled& of = threads[track.thread];
    of.row = track.parent;
    if (name == "state" && track.unit.empty()) of.state = &track.counter;
    if (name == "waiting for a cpu") of.waiting = &track.counter;
  }
  std::erase_if(threads, [](const auto& of) { return of.second.state == nullptr; });
  if (threads.empty()) return {};
  const std::vector<bool> spinning = spinningStacks(trace);
  std::map<std::uint32_t, CounterSeries> spins;
  const bool any = std::ranges::find(spinning, true) != spinning.end();
  for (std::size_t t = 0; any && t < infos.size(); ++t) {
    if (infos[t].kind != TrackKind::counter || infos[t].unit != kStackUnit || !infos[t].thread) continue;
    if (!threads.contains(infos[t].thread.value)) continue;
    spins[infos[t].thread.value] =
        PITWALL_TRY(spinsOf(trace, TrackId{static_cast<std::uint32_t>(t + 1)}, spinning));
  }
  const CounterSeries none;
  for (const auto& [thread, of] : threads) {
    ThreadStates states{statesOf(*of.state, of.waiting != nullptr ? *of.waiting : none, spins[thread]), {}};
    if (states.lane.empty()) continue;
    states.pyramid = TilePyramid(states.lane);
    timeline.tracks[of.row].states = std::make_shared<const ThreadStates>(std::move(states));
  }
  return {};
}

}  // namespace pitwall::gui
