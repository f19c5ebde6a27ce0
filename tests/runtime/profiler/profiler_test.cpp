#include "runtime/profiler.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "db/meta.h"
#include "tests/runtime/profiler/shared_sink.h"

namespace pitwall {
namespace {

// The thread sanitizer allows no new thread in a forked child; with the address sanitizer one may hang there,
// also in a minimal program without our code, when a thread of the parent is just starting.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kThreadsAfterFork = false;
#elif defined(__has_feature)
constexpr bool kThreadsAfterFork = !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer);
#else
constexpr bool kThreadsAfterFork = true;
#endif

using test::Kept;
using test::SharedSink;

class ProfilerTest : public testing::Test {
 protected:
  std::shared_ptr<Kept> start(Profiler& profiler) {
    auto kept = std::make_shared<Kept>();
    EXPECT_TRUE(profiler.start(std::make_unique<SharedSink>(kept)).has_value());
    return kept;
  }
};

std::vector<Event> named(const test::MemorySink& sink, const std::string& name) {
  std::vector<Event> found;
  for (const auto& [track, event] : sink.all_events) {
    if (sink.text(event.name) == name) found.push_back(event);
  }
  return found;
}

OperatorFacts factsNamed(const std::string& name) {
  OperatorFacts facts;
  facts.name = name;
  return facts;
}

void spin(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

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

TEST_F(ProfilerTest, ThreadsThatEndAreDrainedAndTheirRingsServeTheNext) {
  Profiler profiler({.flush_interval_ms = 1000});
  const SiteId site = profiler.site("work", EventKind::scope);
  const auto kept = start(profiler);
  for (int i = 0; i < 200; ++i) {
    std::thread([&profiler, site, i] {
      profiler.nameThread("short " + std::to_string(i));
      const Ticks now = Profiler::now();
      profiler.span(site, now, now, i);
    }).join();
    if (i % 10 == 9) {
      ASSERT_TRUE(profiler.flush().has_value());
    }
  }
  ASSERT_TRUE(profiler.stop().has_value());
  const auto& sink = kept->memory;
  const auto events = named(sink, "work");
  ASSERT_EQ(events.size(), 200U);
  std::set<std::int64_t> values;
  for (const auto& [track, event] : sink.all_events) {
    if (event.kind == EventKind::recorder) continue;
    values.insert(event.value);
    EXPECT_EQ(sink.tracks.at(track.value - 1).name, "short " + std::to_string(event.value));
  }
  EXPECT_EQ(values.size(), 200U);
}

TEST_F(ProfilerTest, StopsAndStartsAgain) {
  Profiler profiler;
  const SiteId site = profiler.site("work", EventKind::scope);
  const OperatorId facts = profiler.operatorFacts(factsNamed("relu"));
  const Ticks early = Profiler::now();
  profiler.span(site, early, early);  // ignored: not recording
  for (int round = 1; round <= 3; ++round) {
    const auto kept = start(profiler);
    EXPECT_TRUE(profiler.isRecording());
    EXPECT_FALSE(profiler.start(std::make_unique<test::MemorySink>()).has_value());
    for (int i = 0; i < round; ++i) {
      const Ticks now = Profiler::now();
      profiler.span(site, now, now, i);
      profiler.operatorRun({now, now, now, now, 1, facts});
    }
    ASSERT_TRUE(profiler.stop().has_value());
    EXPECT_FALSE(profiler.isRecording());
    const Ticks between = Profiler::now();
    profiler.span(site, between, between, 99);
    EXPECT_EQ(named(kept->memory, "work").size(), static_cast<std::size_t>(round));
    EXPECT_EQ(named(kept->memory, "relu").size(), static_cast<std::size_t>(round));
    EXPECT_EQ(kept->memory.facts.size(), 1U);
    EXPECT_EQ(kept->memory.processes.size(), 1U);
    EXPECT_EQ(kept->memory.processes[0].pid, getpid());
  }
  EXPECT_TRUE(profiler.stop().has_value()) << "a second stop has no effect";
}

TEST_F(ProfilerTest, WhatBeganBeforeTheRecordingIsCutAtItsStart) {
  Profiler profiler;
  const SiteId site = profiler.site("work", EventKind::scope);
  const Ticks before = Profiler::now();
  spin(std::chrono::microseconds(100));
  const Ticks middle = Profiler::now();
  const auto kept = start(profiler);
  spin(std::chrono::microseconds(100));
  profiler.span(site, before, middle);           // over before it began: not in it
  profiler.span(site, before, Profiler::now());  // reaches into it
  ASSERT_TRUE(profiler.stop().has_value());
  const auto events = named(kept->memory, "work");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].start_ns, 0);
  EXPECT_GE(events[0].dur_ns, 95'000);
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

TEST_F(ProfilerTest, TheFirstFailureOfTheSinkIsReportedAndRecordingGoesOn) {
  Profiler profiler({.flush_interval_ms = 60'000});
  const SiteId site = profiler.site("work", EventKind::scope);
  const auto kept = start(profiler);
  EXPECT_TRUE(profiler.sinkStatus().has_value());
  profiler.withSink([&](TraceSink&) { kept->memory.fail(ErrorCode::io, "x.pitwall: disk full"); });
  for (int i = 0; i < 1000; ++i) {
    const Ticks now = Profiler::now();
    profiler.span(site, now, now);
  }
  const Status flushed = profiler.flush();
  ASSERT_FALSE(flushed.has_value());
  ASSERT_FALSE(profiler.sinkStatus().has_value());
  EXPECT_EQ(profiler.sinkStatus().error().message, "x.pitwall: disk full");
  EXPECT_TRUE(profiler.isRecording());
  const Status stopped = profiler.stop();
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, ErrorCode::io);
  EXPECT_FALSE(profiler.sinkStatus().has_value()) << "still known after stop()";
  const auto again = start(profiler);
  EXPECT_TRUE(profiler.sinkStatus().has_value()) << "a new recording, a new sink";
  EXPECT_TRUE(profiler.stop().has_value());
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
  for (const Event& e : own) EXPECT_GT(e.dur_ns, 0);
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

TEST_F(ProfilerTest, SeveralProfilersKeepApart) {
  Profiler one, two;
  const SiteId site_one = one.site("one", EventKind::scope);
  const SiteId site_two = two.site("two", EventKind::scope);
  const auto kept_one = start(one);
  const auto kept_two = start(two);
  const auto work = [&] {
    for (int i = 0; i < 500; ++i) {
      const Ticks now = Profiler::now();
      one.span(site_one, now, now, i);
      two.span(site_two, now, now, i);
    }
  };
  {
    std::jthread other(work);
    work();
  }
  ASSERT_TRUE(one.stop().has_value());
  work();
  ASSERT_TRUE(two.stop().has_value());
  EXPECT_EQ(named(kept_one->memory, "one").size(), 1000U);
  EXPECT_EQ(named(kept_two->memory, "two").size(), 1500U);
  EXPECT_TRUE(named(kept_one->memory, "two").empty());
}

TEST_F(ProfilerTest, AProfilerMayDieBeforeItsThreads) {
  auto first = std::make_unique<Profiler>();
  const auto kept_first = start(*first);
  std::atomic<int> step{0};
  std::shared_ptr<Kept> kept_second;
  std::unique_ptr<Profiler> second;
  std::jthread thread([&] {
    const Ticks now = Profiler::now();
    first->span(first->site("a", EventKind::scope), now, now);
    step = 1;
    step.notify_all();
    step.wait(1);
    second->span(second->site("b", EventKind::scope), now, Profiler::now());
    step = 3;
    step.notify_all();
  });
  step.wait(0);
  first.reset();
  second = std::make_unique<Profiler>();
  kept_second = start(*second);
  step = 2;
  step.notify_all();
  step.wait(2);
  ASSERT_TRUE(second->stop().has_value());
  EXPECT_EQ(named(kept_first->memory, "a").size(), 1U);
  EXPECT_EQ(named(kept_second->memory, "b").size(), 1U);
}

TEST_F(ProfilerTest, StartingAndStoppingWhileThreadsRecord) {
  Profiler profiler({.flush_interval_ms = 1, .ring_bytes = 1 << 14});
  const SiteId site = profiler.site("work", EventKind::scope);
  std::atomic<bool> done{false};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!done.load(std::memory_order_relaxed)) {
        const ScopedSpan span(profiler, site);
        profiler.nameThread("busy");
        profiler.dependency({1, 2, DependencyKind::launch});
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    const auto kept = start(profiler);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    ASSERT_TRUE(profiler.stop().has_value());
    for (const auto& [track, event] : kept->memory.all_events) {
      ASSERT_GE(event.start_ns, 0);
      ASSERT_GE(event.dur_ns, 0);
    }
  }
  done = true;
}

TEST_F(ProfilerTest, AForkedChildDoesNotRecordAndDoesNotHang) {
  Profiler profiler({.flush_interval_ms = 1});
  const SiteId site = profiler.site("work", EventKind::scope);
  const auto kept = start(profiler);
  const Ticks now = Profiler::now();
  profiler.span(site, now, now);
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);  // a hang would be a failure, not a stuck test
      bool right = !profiler.isRecording();
      profiler.span(site, now, now);
      profiler.site("another", EventKind::scope);
      profiler.nameThread("child");
      right = right && profiler.stop().has_value() && profiler.flush().has_value();
      right = right && !profiler.start(std::make_unique<test::MemorySink>()).has_value();
      if (kThreadsAfterFork) {
        Profiler own;
        auto own_kept = std::make_shared<Kept>();
        right = right && own.start(std::make_unique<SharedSink>(own_kept)).has_value();
        own.span(own.site("child", EventKind::scope), now, Profiler::now());
        right = right && own.stop().has_value() && named(own_kept->memory, "child").size() == 1;
      }
      _exit(right ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  profiler.span(site, now, Profiler::now());
  ASSERT_TRUE(profiler.stop().has_value());
  EXPECT_EQ(named(kept->memory, "work").size(), 2U) << "the parent continues";
}

TEST_F(ProfilerTest, WithSinkWritesBetweenDrains) {
  Profiler profiler({.flush_interval_ms = 1});
  bool called = false;
  profiler.withSink([&](TraceSink&) { called = true; });
  EXPECT_FALSE(called) << "not recording";
  const auto kept = start(profiler);
  for (int i = 0; i < 100; ++i) {
    profiler.withSink([i](TraceSink& sink) { sink.meta("key", std::to_string(i)); });
  }
  ASSERT_TRUE(profiler.stop().has_value());
  EXPECT_EQ(kept->memory.meta_values.at("key"), "99");
}

}  // namespace
}  // namespace pitwall
