// Static sites, arguments, full rings, and programs with many threads or long names.
#include "runtime/record_macros.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "runtime/profiler.h"
#include "runtime/profiler/clock.h"
#include "tests/runtime/profiler/profiler_fixture.h"

namespace pitwall::record_macros_test {
namespace {

std::shared_ptr<Kept> start(Profiler& profiler) {
  auto kept = std::make_shared<Kept>();
  EXPECT_TRUE(profiler.start(std::make_unique<SharedSink>(kept)).has_value());
  return kept;
}

CorrelationId produce() {
  PITWALL_NAMED_SCOPE(scope, "produce");
  scope.setValue(17);
  return scope.flowOut();
}

void consume(CorrelationId from) {
  PITWALL_NAMED_SCOPE(scope, "consume");
  scope.flowIn(from);
}

void visitSites() {
  PITWALL_SCOPE_IN("decode", "input");
  PITWALL_SCOPE("parse");
  PITWALL_INSTANT_VALUE("epoch", 3);
  PITWALL_COUNTER("queue|items", 17);
}

TEST(RecordTest, SitesRecordWhileAProfilerDoes) {
  visitSites();  // nothing records: no effect
  for (int round = 0; round < 2; ++round) {
    Profiler profiler;
    const auto kept = start(profiler);
    visitSites();
    consume(produce());
    ASSERT_TRUE(profiler.stop().has_value());
    visitSites();
    const auto& sink = kept->memory;
    const auto decode = named(sink, "decode");
    ASSERT_EQ(decode.size(), 1U);
    EXPECT_EQ(sink.text(decode[0].args), "{\"domain\":\"input\"}");
    EXPECT_EQ(decode[0].depth, 0);
    ASSERT_EQ(named(sink, "parse").size(), 1U);
    EXPECT_EQ(named(sink, "parse")[0].depth, 1);
    ASSERT_EQ(named(sink, "epoch").size(), 1U);
    EXPECT_EQ(named(sink, "epoch")[0].kind, EventKind::instant);
    EXPECT_EQ(named(sink, "epoch")[0].value, 3);
    ASSERT_EQ(sink.all_counters.size(), 1U);
    EXPECT_EQ(sink.all_counters[0].second.value, 17);
    ASSERT_EQ(sink.all_dependencies.size(), 1U);
    EXPECT_EQ(sink.all_dependencies[0].kind, DependencyKind::flow);
    EXPECT_EQ(sink.all_dependencies[0].source, named(sink, "produce")[0].correlation);
    EXPECT_EQ(sink.all_dependencies[0].target, named(sink, "consume")[0].correlation);
    EXPECT_EQ(named(sink, "produce")[0].value, 17);
  }
}

TEST(RecordTest, SitesAreSwitchedByNameAndDomainWhileTheProgramRuns) {
  Profiler profiler;
  const auto kept = start(profiler);
  switchSites("parse", false);
  visitSites();
  switchSites("input", false);
  visitSites();
  switchSites("*", false);
  visitSites();
  switchSites("*", true);
  visitSites();
  ASSERT_TRUE(profiler.stop().has_value());
  EXPECT_EQ(named(kept->memory, "decode").size(), 2U);
  EXPECT_EQ(named(kept->memory, "parse").size(), 1U);
  EXPECT_EQ(named(kept->memory, "epoch").size(), 3U);
}

TEST(RecordTest, TheFirstProfilerHasTheSites) {
  Profiler first, second;
  const auto kept_first = start(first);
  const auto kept_second = start(second);
  visitSites();
  ASSERT_TRUE(first.stop().has_value());
  visitSites();
  ASSERT_TRUE(second.stop().has_value());
  EXPECT_EQ(named(kept_first->memory, "parse").size(), 1U);
  EXPECT_TRUE(named(kept_second->memory, "parse").empty());
}

TEST(RecordTest, ArgumentsArriveAsJson) {
  Profiler profiler;
  const auto kept = start(profiler);
  const SiteId site = profiler.site("load", EventKind::scope, "io");
  const SiteId rows = profiler.site("rows", EventKind::scope);
  const SiteId ratio = profiler.site("ratio", EventKind::scope);
  const SiteId file = profiler.site("file", EventKind::scope);
  Arguments arguments;
  arguments.add(rows, std::int64_t{-5});
  arguments.add(ratio, 0.25);
  arguments.add(file, "a \"quoted\"\nname that is longer than one record's 24 bytes");
  Arguments many;
  for (int i = 0; i < 40; ++i) many.add(rows, std::int64_t{i});
  Arguments lengthy;
  lengthy.add(file, std::string(1000, 'x'));
  {
    ScopedSpan span(profiler, site);
    span.setArguments(arguments);
    span.setCorrelation(7);
    profiler.instant(rows, 1, &many);
    profiler.instant(file, 1, &lengthy);
  }
  ASSERT_TRUE(profiler.stop().has_value());
  const auto& sink = kept->memory;
  const auto load = named(sink, "load");
  ASSERT_EQ(load.size(), 1U);
  EXPECT_EQ(load[0].correlation, 7U);
  EXPECT_EQ(sink.text(load[0].args),
            "{\"domain\":\"io\",\"rows\":-5,\"ratio\":0.25,\"file\":\"a \\\"quoted\\\"\\nname that is longer "
            "than one record's 24 bytes\"}");
  const std::string all = sink.text(named(sink, "rows")[0].args);
  EXPECT_EQ(std::count(all.begin(), all.end(), ':'), 15);
  EXPECT_EQ(sink.text(named(sink, "file")[0].args), "{\"file\":\"" + std::string(14 * 24, 'x') + "\"}");
}

TEST(RecordTest, AWaitingRingLosesNothing) {
  Profiler profiler({.flush_interval_ms = 5, .ring_bytes = 1 << 12, .when_full = RingPolicy::block});
  const SiteId site = profiler.site("work", EventKind::scope);
  const auto kept = start(profiler);
  constexpr int kRecords = 50'000;
  const auto body = [&] {
    for (int i = 0; i < kRecords; ++i) {
      const Ticks now = Profiler::now();
      profiler.span(site, now, now, i);
    }
  };
  {
    std::jthread other(body);
    body();
    // The thread that holds the sink frees space: it must not wait for space.
    profiler.withSink([&](TraceSink&) { body(); });
  }
  ASSERT_TRUE(profiler.stop().has_value());
  std::int64_t lost = 0;
  for (const Loss& loss : kept->memory.losses) lost += loss.count;
  EXPECT_EQ(named(kept->memory, "work").size() + static_cast<std::size_t>(lost), 3U * kRecords);
  EXPECT_LE(lost, kRecords) << "only of the thread that must not wait";
}

TEST(RecordTest, AWaitingThreadIsLetGoAtTheEnd) {
  Profiler profiler({.flush_interval_ms = 0, .ring_bytes = 1 << 12, .when_full = RingPolicy::block});
  const SiteId site = profiler.site("work", EventKind::scope);
  const auto kept = start(profiler);
  std::jthread stuck([&] {
    for (int i = 0; i < 1000; ++i) profiler.span(site, 1, 2, i);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(profiler.stop().has_value());
}

TEST(RecordTest, AnOverwritingRingKeepsTheLatest) {
  Profiler profiler({.flush_interval_ms = 0, .ring_bytes = 1 << 15, .when_full = RingPolicy::overwrite});
  const SiteId site = profiler.site("work", EventKind::scope);
  const auto kept = start(profiler);
  constexpr std::int64_t kRecords = 10'000;  // of which the ring holds 1024
  for (std::int64_t i = 0; i < kRecords; ++i) {
    const Ticks now = Profiler::now();
    profiler.span(site, now, Profiler::now(), i);
  }
  ASSERT_TRUE(profiler.stop().has_value());
  const auto events = named(kept->memory, "work");
  ASSERT_GE(events.size(), 1024U - 2 * ring::kMostRecords);
  for (std::size_t i = 0; i < events.size(); ++i)
    ASSERT_EQ(events[i].value, kRecords - static_cast<std::int64_t>(events.size() - i));
  ASSERT_EQ(kept->memory.losses.size(), 1U);
  EXPECT_EQ(kept->memory.losses[0].count, kRecords - static_cast<std::int64_t>(events.size()));
}

TEST(RecordTest, AnOverwritingRingIsReadWhileItIsWritten) {
  Profiler profiler({.flush_interval_ms = 1, .ring_bytes = 1 << 13, .when_full = RingPolicy::overwrite});
  const SiteId site = profiler.site("work", EventKind::scope);
  const auto kept = start(profiler);
  constexpr std::int64_t kRecords = 300'000;
  for (std::int64_t i = 0; i < kRecords; ++i) {
    const Ticks now = Profiler::now();
    profiler.span(site, now, now + 5, i);
  }
  ASSERT_TRUE(profiler.stop().has_value());
  std::int64_t last = -1, lost = 0;
  const auto events = named(kept->memory, "work");
  for (const Event& event : events) {
    ASSERT_GT(event.value, last) << "whole, and in order";
    last = event.value;
  }
  EXPECT_EQ(last, kRecords - 1);
  for (const Loss& loss : kept->memory.losses) lost += loss.count;
  EXPECT_EQ(lost + static_cast<std::int64_t>(events.size()), kRecords);
}

TEST(RecordTest, FiveHundredThreadsAtOnce) {
  Profiler profiler;
  const SiteId site = profiler.site("work", EventKind::scope);
  const auto kept = start(profiler);
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 500; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) profiler.span(site, Profiler::now(), Profiler::now(), t * 20 + i);
        ++ready;
        go.wait(false);
      });
    }
    while (ready < 500) std::this_thread::yield();
    go = true;
    go.notify_all();
  }
  ASSERT_TRUE(profiler.stop().has_value());
  EXPECT_TRUE(kept->memory.losses.empty());
  std::set<std::int64_t> values;
  for (const Event& event : named(kept->memory, "work")) values.insert(event.value);
  EXPECT_EQ(values.size(), 10'000U);
}

TEST(RecordTest, AThreadPerEvent) {
  Profiler profiler({.flush_interval_ms = 1});
  const SiteId site = profiler.site("work", EventKind::scope);
  const auto kept = start(profiler);
  for (int i = 0; i < 1000; ++i)
    std::thread([&, i] { profiler.span(site, Profiler::now(), Profiler::now(), i); }).join();
  ASSERT_TRUE(profiler.stop().has_value());
  std::set<std::int64_t> values;
  for (const Event& event : named(kept->memory, "work")) values.insert(event.value);
  EXPECT_EQ(values.size(), 1000U);
}

TEST(RecordTest, ANameOfAMegabyte) {
  Profiler profiler;
  const std::string name(1 << 20, 'n');
  const auto kept = start(profiler);
  profiler.nameThread(name);
  profiler.instant(profiler.site(name, EventKind::scope, name));
  ASSERT_TRUE(profiler.stop().has_value());
  EXPECT_EQ(named(kept->memory, name).size(), 1U);
  profiler.nameThread("main");
}

TEST(RecordTest, WhichClockServes) {
  EXPECT_TRUE(profiler::mayUseTsc(true, ""));
  EXPECT_TRUE(profiler::mayUseTsc(true, "tsc hpet acpi_pm"));
  EXPECT_TRUE(profiler::mayUseTsc(true, "kvm-clock tsc acpi_pm"));
  EXPECT_FALSE(profiler::mayUseTsc(false, "tsc hpet"));
  EXPECT_FALSE(profiler::mayUseTsc(true, "hpet acpi_pm")) << "the kernel has given the counter up";
}

// A virtual machine that migrates to another host: the counter jumps forward or back; later pairs correct it.
TEST(RecordTest, ACounterThatJumpsKeepsTimeMonotone) {
  ring::ClockMap map({1000, 0});
  map.add({2000, 1000});
  map.add({1500, 2000});  // went back: ignored
  map.add({9000, 3000});
  TimeNs last = 0;
  for (std::uint64_t ticks = 0; ticks < 12'000; ticks += 50) {
    const TimeNs ns = map.toNs(ticks);
    ASSERT_GE(ns, last);
    last = ns;
  }
  EXPECT_EQ(map.toNs(2000), 1000);
  EXPECT_EQ(map.toNs(9000), 3000);
}

}  // namespace
}  // namespace pitwall::record_macros_test
