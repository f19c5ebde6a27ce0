// What sampled threads do, as colours below their lanes.
#include "gui/timeline/thread_states.h"

#include <gtest/gtest.h>

#include <map>

#include "db/store.h"
#include "gui/timeline/row_layout.h"
#include "tests/support/temp_folder.h"

namespace pitwall::gui::thread_states_test {
namespace {

using Activities = std::vector<std::pair<TimeNs, ThreadActivity>>;

Activities of(const Lane& states) {
  Activities all;
  for (std::size_t i = 0; i < states.size(); ++i) all.emplace_back(states.startNs(i), activityAt(states, i));
  return all;
}

TEST(ThreadStates, EqualSamplesAreOneState) {
  const CounterSeries state(
      {{0, 0}, {100, 0}, {200, 1}, {300, 3}, {400, 5}, {500, 9}, {600, 4}, {700, 11}, {800, 14}});
  const Lane lane = statesOf(state, {}, {});
  EXPECT_EQ(of(lane), (Activities{{0, ThreadActivity::running},
                                  {200, ThreadActivity::lock},
                                  {300, ThreadActivity::waiting},
                                  {500, ThreadActivity::storage},
                                  {600, ThreadActivity::sleeping},
                                  {700, ThreadActivity::kernel},
                                  {800, ThreadActivity::stopped}}));
  EXPECT_EQ(lane.durNs(0), 200);
  EXPECT_EQ(lane.endNs(lane.size() - 1), 900) << "the last holds as long as the one before it";
}

TEST(ThreadStates, AThreadWithoutACpuIsReadyAndOneInABarrierSpins) {
  const CounterSeries state({{0, 0}, {100, 0}, {200, 0}, {300, 3}});
  const CounterSeries waiting({{0, 0.1}, {100, 0.8}, {200, 0.1}, {300, 0.9}});
  const CounterSeries spins({{0, 0}, {200, 1}, {300, 1}});
  EXPECT_EQ(of(statesOf(state, waiting, spins)), (Activities{{0, ThreadActivity::running},
                                                             {100, ThreadActivity::ready},
                                                             {200, ThreadActivity::spinning},
                                                             {300, ThreadActivity::waiting}}));
  EXPECT_TRUE(of(statesOf({}, waiting, spins)).empty());
}

TEST(ThreadStates, OnlyFunctionsThatOnlyWaitSpin) {
  for (const char* name :
       {"gomp_team_barrier_wait_end", "[libgomp.so.1.0.0]", "pthread_spin_lock", "[libiomp5.so]"})
    EXPECT_TRUE(isSpinFunction(name)) << name;
  for (const char* name :
       {"sgemm_kernel", "barrier_statistics", "waiting: lock", "pitwall::Engine::run()", ""})
    EXPECT_FALSE(isSpinFunction(name)) << name;
}

// Two threads share CPU 3 for a while; one of them moves to CPU 0.
TEST(CoreUse, EachCpuHasTheSharesOfTheThreadsSeenOnIt) {
  const test::TempFolder folder;
  const std::string path = folder / "cores.pitwall";
  auto sink = createTrace(path);
  ASSERT_TRUE(sink.has_value());
  TraceSink& trace = **sink;
  const ProcessId process = trace.process({1, "toy", "", 0});
  const auto thread = [&](int tid, std::vector<CounterSample> share, std::vector<CounterSample> core) {
    const ThreadId of = trace.thread({process, tid, "python3"});
    trace.counters(trace.track({TrackKind::counter, process, of, {}, "cpu", "share"}), share);
    trace.counters(trace.track({TrackKind::counter, process, of, {}, "cpu number", ""}), core);
  };
  thread(1, {{0, 0.5}, {100, 0.25}, {200, 0.25}}, {{0, 3}, {100, 3}, {200, 0}});
  thread(2, {{0, 0.5}, {100, 0.5}, {200, 0.5}}, {{0, 3}, {100, 3}, {200, 3}});
  ASSERT_TRUE(trace.finish().has_value());
  auto opened = Trace::open(path);
  ASSERT_TRUE(opened.has_value());
  const auto loaded = loadTimeline(**opened);
  ASSERT_TRUE(loaded.has_value());
  const Timeline& timeline = **loaded;
  ASSERT_EQ(timeline.processes.size(), 2U);
  EXPECT_EQ(timeline.processes[1].title, "CPUs");
  std::map<std::string, std::vector<double>> values;
  for (const TimelineTrack& track : timeline.tracks) {
    if (track.process != 1) continue;
    for (const TimeNs time : {50, 150}) {
      const std::size_t at = track.counter.at(time);
      values[track.title].push_back(at < track.counter.size() ? track.counter.value(at) : -1);
    }
  }
  EXPECT_EQ(values, (std::map<std::string, std::vector<double>>{{"CPU 0, as sampled (share)", {-1, 0.25}},
                                                                {"CPU 3, as sampled (share)", {1, 0.5}}}));
}

// From a trace: the strip is below the lanes of the thread, whether it has events or not.
TEST(ThreadStates, ASampledThreadHasAStripBelowItsLanes) {
  const test::TempFolder folder;
  const std::string path = folder / "sampled.pitwall";
  auto sink = createTrace(path);
  ASSERT_TRUE(sink.has_value());
  TraceSink& trace = **sink;
  const ProcessId process = trace.process({1, "toy", "", 0});
  const FrameId spin = trace.frame({"gomp_team_barrier_wait_end", "libgomp.so", 0, "native"});
  const StackId stack = trace.stack({{}, spin});
  for (const int tid : {1, 2}) {
    const ThreadId thread = trace.thread({process, tid, "python3"});
    const auto counter = [&](const char* name, const char* unit, std::vector<CounterSample> samples) {
      trace.counters(trace.track({TrackKind::counter, process, thread, {}, name, unit}), samples);
    };
    counter("cpu", "share", {{0, 1}, {100, 1}});
    counter("state", "", {{0, 0}, {100, 0}, {200, 3}});
    counter("stack", kStackUnit, {{0, 0}, {100, static_cast<double>(stack.value)}});
    if (tid == 2) continue;
    const TrackId track = trace.track({TrackKind::thread, process, thread, {}, "", ""});
    trace.events(track, std::vector<Event>{{.start_ns = 0, .dur_ns = 100, .name = trace.string("x")}});
  }
  ASSERT_TRUE(trace.finish().has_value());
  auto opened = Trace::open(path);
  ASSERT_TRUE(opened.has_value());
  const auto loaded = loadTimeline(**opened);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  RowLayout rows;
  rows.setTimeline(*loaded);
  int strips = 0;
  for (const Row& row : rows.rows()) {
    if (row.is_process) continue;
    const TimelineTrack& track = (*loaded)->tracks[row.index];
    if (track.parent != kNoTrack) {
      EXPECT_EQ(row.states, 0);
      continue;
    }
    ++strips;
    EXPECT_EQ(row.height, row.lanes * rows.metrics().lane + rows.metrics().states);
    EXPECT_EQ(of(track.states->lane), (Activities{{0, ThreadActivity::running},
                                                  {100, ThreadActivity::spinning},
                                                  {200, ThreadActivity::waiting}}));
  }
  EXPECT_EQ(strips, 2);
}

TEST(ThreadStates, TheirColoursDifferInEveryPalette) {
  for (const bool dark : {false, true}) {
    const Palette& palette = Palette::of(dark, false, ColorBy::name);
    for (int a = 0; a < kStateColors; ++a) {
      for (int b = 0; b < a; ++b)
        EXPECT_NE(palette.color[static_cast<std::size_t>(kStateColor + a)],
                  palette.color[static_cast<std::size_t>(kStateColor + b)]);
      EXPECT_NE(palette.color[static_cast<std::size_t>(kStateColor + a)], palette.background);
    }
  }
}

}  // namespace
}  // namespace pitwall::gui::thread_states_test
