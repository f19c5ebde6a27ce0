// Starting, stopping and ending of recordings, profilers, threads and processes.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/runtime/profiler/profiler_fixture.h"

namespace pitwall::profiler_lifecycle_test {
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
}  // namespace pitwall::profiler_lifecycle_test
