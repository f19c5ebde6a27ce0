// What records hold, how many arrive, and what is lost.
#include "runtime/profiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "db/meta.h"
#include "tests/runtime/profiler/profiler_fixture.h"

namespace pitwall::profiler_test {
namespace {

TEST_F(ProfilerTest, EveryRecordOfEveryThreadArrivesOnceAndInOrder) {
  constexpr int kThreads = 4;
  constexpr int kRecords = 20000;
  Profiler profiler({.flush_interval_ms = 10});
  const SiteId site = profiler.site("work", EventKind::scope);
  const auto kept = start(profiler);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&profiler, site, t] {
        profiler.nameThread("thread " + std::to_string(t));
        for (int i = 0; i < kRecords; ++i) {
          const Ticks now = Profiler::now();
          profiler.span(site, now, Profiler::now(), i);
        }
      });
    }
  }
  ASSERT_TRUE(profiler.stop().has_value());
  const auto& sink = kept->memory;
  EXPECT_TRUE(sink.finished);
  EXPECT_TRUE(sink.losses.empty());
  std::set<std::string> names;
  for (std::size_t t = 0; t < sink.tracks.size(); ++t) {
    if (sink.tracks[t].name == "pitwall recorder") continue;
    names.insert(sink.tracks[t].name);
    EXPECT_EQ(sink.threads.at(sink.tracks[t].thread.value - 1).name, sink.tracks[t].name);
    const auto events = sink.eventsOf(TrackId{static_cast<std::uint32_t>(t + 1)});
    ASSERT_EQ(events.size(), static_cast<std::size_t>(kRecords));
    TimeNs last = 0;
    for (int i = 0; i < kRecords; ++i) {
      ASSERT_EQ(events[static_cast<std::size_t>(i)].value, i);
      ASSERT_GE(events[static_cast<std::size_t>(i)].start_ns, last);
      ASSERT_GE(events[static_cast<std::size_t>(i)].dur_ns, 0);
      last = events[static_cast<std::size_t>(i)].start_ns;
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"thread 0", "thread 1", "thread 2", "thread 3"}));
}

TEST_F(ProfilerTest, AnOperatorKeepsItsFourTimesAndItsFacts) {
  Profiler profiler;
  OperatorFacts facts;
  facts.name = "Convolution";
  facts.layer = "conv1";
  facts.flop = 1234;
  facts.phase = Phase::forward;
  profiler.operatorFacts(factsNamed("never run"));
  const OperatorId id = profiler.operatorFacts(facts);
  EXPECT_EQ(profiler.operatorFacts(facts), id);
  EXPECT_EQ(profiler.operatorFacts(id), facts);
  const auto kept = start(profiler);
  const auto before = std::chrono::steady_clock::now();
  const Ticks pushed = Profiler::now();
  spin(std::chrono::microseconds(200));
  const Ticks ready = Profiler::now();
  spin(std::chrono::microseconds(200));
  const Ticks started = Profiler::now();
  spin(std::chrono::microseconds(200));
  profiler.operatorRun({pushed, ready, started, Profiler::now(), 42, id});
  const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - before;
  profiler.operatorRun({0, 0, started, started, 43, {}});
  profiler.dependency({42, 43, DependencyKind::writeAfterRead});
  ASSERT_TRUE(profiler.stop().has_value());
  const auto events = kept->memory.eventsOf(EventKind::operatorRun);
  ASSERT_EQ(events.size(), 2U);
  const Event& e = events[0];
  EXPECT_EQ(e.correlation, 42U);
  EXPECT_EQ(kept->memory.text(e.name), "Convolution");
  EXPECT_EQ(kept->memory.facts.at(e.op.value - 1), facts);
  EXPECT_EQ(kept->memory.facts.size(), 1U) << "only facts of what ran";
  // For any scheduling delay: each part takes at least its time, and the whole no more than the measured
  // time.
  EXPECT_GE(e.ready_ns - e.pushed_ns, 195'000);
  EXPECT_GE(e.start_ns - e.ready_ns, 195'000);
  EXPECT_GE(e.dur_ns, 195'000);
  EXPECT_LE(e.start_ns + e.dur_ns - e.pushed_ns, elapsed.count() + 10'000);
  EXPECT_EQ(kept->memory.text(events[1].name), "operator");
  EXPECT_EQ(events[1].op, OperatorId{});
  EXPECT_EQ(events[1].pushed_ns, events[1].start_ns) << "unknown times count as started";
  EXPECT_EQ(events[1].ready_ns, events[1].start_ns);
  ASSERT_EQ(kept->memory.all_dependencies.size(), 1U);
  EXPECT_EQ(kept->memory.all_dependencies[0].source, 42U);
  EXPECT_EQ(kept->memory.all_dependencies[0].target, 43U);
  EXPECT_EQ(kept->memory.all_dependencies[0].kind, DependencyKind::writeAfterRead);
}

TEST_F(ProfilerTest, InstantsCountersIterationsAndCorrelations) {
  Profiler profiler;
  const auto kept = start(profiler);
  profiler.instant(profiler.site("epoch", EventKind::scope), 7);
  profiler.counter(profiler.site("memory live: weights|bytes", EventKind::scope), 2.5);
  profiler.iteration(3, 64);
  const CorrelationId correlation = profiler.newCorrelation();
  EXPECT_GE(correlation, CorrelationId{1} << 48);
  EXPECT_NE(profiler.newCorrelation(), correlation);
  const Ticks now = Profiler::now();
  profiler.span(profiler.site("batch", EventKind::dataWork), now, now, -5, correlation);
  ASSERT_TRUE(profiler.stop().has_value());
  const auto& sink = kept->memory;
  const auto instants = sink.eventsOf(EventKind::instant);
  ASSERT_EQ(instants.size(), 1U);
  EXPECT_EQ(instants[0].value, 7);
  EXPECT_EQ(instants[0].dur_ns, 0);
  ASSERT_EQ(sink.all_counters.size(), 1U);
  const TrackInfo& track = sink.tracks.at(sink.all_counters[0].first.value - 1);
  EXPECT_EQ(track.kind, TrackKind::counter);
  EXPECT_EQ(track.name, "memory live: weights");
  EXPECT_EQ(track.unit, "bytes");
  EXPECT_EQ(sink.all_counters[0].second.value, 2.5);
  ASSERT_EQ(sink.iterations.size(), 1U);
  EXPECT_EQ(sink.iterations[0].index, 3);
  EXPECT_EQ(sink.iterations[0].items, 64);
  const auto batches = sink.eventsOf(EventKind::dataWork);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].correlation, correlation);
  EXPECT_EQ(batches[0].value, -5);
}

TEST_F(ProfilerTest, CountsExactlyWhatATinyRingDrops) {
  Profiler profiler({.flush_interval_ms = 10, .ring_bytes = 1024});  // 32 records
  const SiteId site = profiler.site("work", EventKind::scope);
  const auto kept = start(profiler);
  kept->hold();
  const Ticks first = Profiler::now();
  profiler.span(site, first, first);
  kept->awaitHeld();
  // The drain is blocked, with or without having read the first record.
  constexpr int kRecords = 1000;
  for (int i = 0; i < kRecords; ++i) {
    const Ticks now = Profiler::now();
    if (i % 4 == 0) {
      profiler.operatorRun({now, now, now, now, 1, {}});
    } else if (i % 4 == 1) {
      profiler.dependency({1, 2, DependencyKind::launch});
    } else {
      profiler.span(site, now, now, i);
    }
  }
  const Ticks last = Profiler::now();
  kept->letGo();
  ASSERT_TRUE(profiler.stop().has_value());
  const auto& sink = kept->memory;
  std::int64_t lost = 0;
  for (const Loss& loss : sink.losses) {
    lost += loss.count;
    EXPECT_EQ(loss.reason, "ring full");
    EXPECT_EQ(sink.tracks.at(loss.track.value - 1).name, "main");
    EXPECT_LE(loss.from_ns, loss.to_ns);
    EXPECT_GT(loss.from_ns, 0);
  }
  EXPECT_GT(lost, 900);
  const auto arrived =
      named(sink, "work").size() + named(sink, "operator").size() + sink.all_dependencies.size();
  EXPECT_EQ(arrived + static_cast<std::size_t>(lost), static_cast<std::size_t>(kRecords + 1));
  EXPECT_LE(sink.losses.back().to_ns, std::stoll(sink.meta_values.at(meta::kTraceEndNs)));
  EXPECT_GT(last, first);
}

// Operators that complete on another thread, one after the other: all are on the device's first track.
TEST_F(ProfilerTest, TheFirstTrackOfADeviceHoldsThousands) {
  Profiler profiler({.flush_interval_ms = 0});
  const OperatorId op = profiler.operatorFacts(factsNamed("Receive"));
  const auto kept = start(profiler);
  for (CorrelationId correlation = 1; correlation <= 5000; ++correlation) {
    const std::uint16_t track = profiler.takeDeviceTrack(1);
    ASSERT_EQ(track, 1);
    const Ticks now = Profiler::now();
    Profiler::OperatorRun run{now, now, now, 0, correlation, op, 1};
    profiler.operatorOpen(run, track);
    run.finished = Profiler::now();
    profiler.operatorRun(run, track);
  }
  ASSERT_TRUE(profiler.stop().has_value());
  EXPECT_TRUE(kept->memory.losses.empty());
  EXPECT_EQ(named(kept->memory, "Receive").size(), 5000U);
}

TEST_F(ProfilerTest, AHalfFullRingIsDrainedBeforeTheInterval) {
  Profiler profiler({.flush_interval_ms = 60'000, .ring_bytes = 1 << 15});
  const SiteId site = profiler.site("work", EventKind::scope);
  const auto kept = start(profiler);
  for (int i = 0; i < 600; ++i) {
    const Ticks now = Profiler::now();
    profiler.span(site, now, now);
  }
  kept->awaitDrain();  // a minute before its interval
  ASSERT_TRUE(profiler.stop().has_value());
  EXPECT_EQ(named(kept->memory, "work").size(), 600U);
}

TEST_F(ProfilerTest, NestingDepth) {
  Profiler profiler({.flush_interval_ms = 60'000});
  const SiteId inner = profiler.site("inner", EventKind::scope);
  const SiteId middle = profiler.site("middle", EventKind::scope);
  const SiteId outer = profiler.site("outer", EventKind::scope);
  const SiteId bulk = profiler.site("bulk", EventKind::bulk);
  const auto kept = start(profiler);
  {
    const ScopedSpan o(profiler, outer);
    {
      const ScopedSpan m(profiler, middle);
      const ScopedSpan i(profiler, inner);
    }
    ASSERT_TRUE(profiler.flush().has_value());  // outer ends in a later drain than the spans that it encloses
    const Ticks bulk_started = Profiler::now();
    spin(std::chrono::microseconds(5));
    for (int i = 0; i < 2; ++i) {
      const Ticks now = Profiler::now();
      spin(std::chrono::microseconds(5));
      profiler.operatorRun({now, now, now, Profiler::now(), 1, {}});
      spin(std::chrono::microseconds(5));
    }
    { const ScopedSpan i(profiler, inner); }
    spin(std::chrono::microseconds(5));
    profiler.span(bulk, bulk_started, Profiler::now());
  }
  { const ScopedSpan o(profiler, outer); }
  ASSERT_TRUE(profiler.stop().has_value());
  const auto depths = [&](const std::string& name) {
    std::vector<int> all;
    for (const Event& e : named(kept->memory, name)) all.push_back(e.depth);
    return all;
  };
  EXPECT_EQ(depths("outer"), (std::vector<int>{0, 0}));
  EXPECT_EQ(depths("middle"), (std::vector<int>{1}));
  EXPECT_EQ(depths("inner"), (std::vector<int>{2, 2}));
  EXPECT_EQ(depths("bulk"), (std::vector<int>{1}));
  EXPECT_EQ(depths("operator"), (std::vector<int>{2, 2}));
}

TEST_F(ProfilerTest, ReportsItsOwnWork) {
  Profiler profiler({.flush_interval_ms = 5});
  const SiteId site = profiler.site("work", EventKind::scope);
  const auto kept = start(profiler);
  for (int i = 0; i < 20; ++i) {
    for (int k = 0; k < 1000; ++k) {
      const Ticks now = Profiler::now();
      profiler.span(site, now, now);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    if (i % 5 == 0) {
      ASSERT_TRUE(profiler.flush().has_value());  // beside those of the drain's own thread
    }
  }
  ASSERT_TRUE(profiler.stop().has_value());
  const auto& sink = kept->memory;
  const auto own = sink.eventsOf(EventKind::recorder);
  EXPECT_GE(own.size(), 3U);
  EXPECT_EQ(static_cast<int>(own.size()), sink.flushes) << "one span per drain";
  TimeNs last = 0;
  for (const Event& e : own) {
    EXPECT_GT(e.dur_ns, 0);
    EXPECT_GE(e.start_ns, last);
    last = e.start_ns + e.dur_ns;
  }
  EXPECT_GT(profiler.selfTime(), 0);
  EXPECT_EQ(sink.meta_values.at(meta::kRecorderSelfNs), std::to_string(profiler.selfTime()));
  EXPECT_GT(std::stoll(sink.meta_values.at(meta::kTraceEndNs)), 40'000'000);
  const auto unix_ns = std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  EXPECT_NEAR(static_cast<double>(std::stoll(sink.meta_values.at(meta::kTraceStartUnixNs))),
              static_cast<double>(unix_ns), 60e9);
  const bool has_track = std::any_of(sink.tracks.begin(), sink.tracks.end(),
                                     [](const TrackInfo& t) { return t.name == "pitwall recorder"; });
  EXPECT_TRUE(has_track);
}

}  // namespace
}  // namespace pitwall::profiler_test
