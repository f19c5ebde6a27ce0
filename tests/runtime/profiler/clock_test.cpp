#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "runtime/profiler.h"
#include "tests/runtime/profiler/shared_sink.h"

namespace pitwall::clock_test {
namespace {

using SteadyClock = std::chrono::steady_clock;

TimeNs steadyNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now().time_since_epoch()).count();
}

class ClockTest : public testing::TestWithParam<RecorderClock> {
 protected:
  void SetUp() override { Profiler::useClock(GetParam()); }
  void TearDown() override { Profiler::useClock(RecorderClock::automatic); }
};
INSTANTIATE_TEST_SUITE_P(Clocks, ClockTest,
                         testing::Values(RecorderClock::automatic, RecorderClock::monotonic),
                         [](const auto& p) {
                           return p.param == RecorderClock::automatic ? "Automatic" : "Monotonic";
                         });

// Marks moments on both clocks; the differences between the marks must agree to some microseconds, across
// many drains: a wrong rate would be off by far more.
TEST_P(ClockTest, AgreesWithSteadyClockAndIsMonotone) {
  struct Moment {
    TimeNs before, after;
  };
  Profiler profiler({.flush_interval_ms = 10});
  const SiteId site = profiler.site("moment", EventKind::instant);
  const auto kept = std::make_shared<test::Kept>();
  ASSERT_TRUE(profiler.start(std::make_unique<test::SharedSink>(kept)).has_value());
  std::vector<Moment> moments;
  const TimeNs end = steadyNs() + 300'000'000;
  for (int i = 0; steadyNs() < end; ++i) {
    const TimeNs before = steadyNs();
    profiler.instant(site, i);
    const TimeNs after = steadyNs();
    moments.push_back({before, after});
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  ASSERT_TRUE(profiler.stop().has_value());
  const auto events = kept->memory.eventsOf(EventKind::instant);
  ASSERT_EQ(events.size(), moments.size());
  // The trace's time 0 on the steady clock is derived from the first moment; all others must agree with it.
  TimeNs lowest = INT64_MIN / 2, highest = INT64_MAX / 2, last = 0;
  std::size_t disagreeing = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_GE(events[i].start_ns, last) << i;
    last = events[i].start_ns;
    if (moments[i].after - moments[i].before > 2'000) continue;  // interrupted in between
    const TimeNs low = moments[i].before - events[i].start_ns;
    const TimeNs high = moments[i].after - events[i].start_ns;
    if (low > highest + 10'000 || high < lowest - 10'000) {
      ++disagreeing;
      continue;
    }
    lowest = std::max(lowest, low);
    highest = std::min(highest, high);
  }
  EXPECT_EQ(disagreeing, 0U) << "of " << events.size();
}

// A moment during a drain, converted in that drain and in all later ones: the same each time.
TEST_P(ClockTest, LaterDrainsConvertAMomentToTheSameTime) {
  class Source : public EventSource {
   public:
    void drain(DrainContext& context) override {
      for (const auto& [ticks, ns] : moments) EXPECT_EQ(context.toNs(ticks), ns);
      const Ticks now = Profiler::now();
      moments.emplace_back(now, context.toNs(now));
    }
    std::vector<std::pair<Ticks, TimeNs>> moments;
  } source;
  Profiler profiler({.flush_interval_ms = 0});
  profiler.addSource(source);
  ASSERT_TRUE(profiler.start(std::make_unique<test::MemorySink>()).has_value());
  for (int i = 0; i < 30; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_TRUE(profiler.flush().has_value());
  }
  ASSERT_TRUE(profiler.stop().has_value());
  EXPECT_GE(source.moments.size(), 30U);
  profiler.removeSource(source);
}

TEST_P(ClockTest, ADurationIsRight) {
  Profiler profiler;
  const SiteId site = profiler.site("sleep", EventKind::scope);
  const auto kept = std::make_shared<test::Kept>();
  ASSERT_TRUE(profiler.start(std::make_unique<test::SharedSink>(kept)).has_value());
  const TimeNs before = steadyNs();
  {
    const ScopedSpan span(profiler, site);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  const TimeNs most = steadyNs() - before;
  ASSERT_TRUE(profiler.stop().has_value());
  const auto events = kept->memory.eventsOf(EventKind::scope);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_GE(events[0].dur_ns, 60'000'000 - 10'000);
  EXPECT_LE(events[0].dur_ns, most + 10'000);
}

}  // namespace
}  // namespace pitwall::clock_test
