// NVTX ranges that may end on another thread, in rings that are full.
#include <gtest/gtest.h>

#include <memory>

#include "runtime/profiler/nvtx/recorder.h"
#include "tests/runtime/profiler/shared_sink.h"

namespace pitwall::nvtx::ranges_test {
namespace {

// The drain takes the lock under which a range is written: a thread that waits for the drain would wait for ever.
TEST(NvtxRanges, AFullRingThatWaitsDoesNotHoldUpTheDrain) {
  const auto kept = std::make_shared<test::Kept>();
  Names names;
  Schemas schemas;
  Profiler profiler({.flush_interval_ms = 1, .ring_bytes = 1024, .when_full = RingPolicy::block});
  Recorder recorder(profiler, names, schemas);
  ASSERT_TRUE(profiler.start(std::make_unique<test::SharedSink>(kept)).has_value());
  constexpr int kRanges = 20'000;
  for (int i = 0; i < kRanges; ++i) recorder.end(recorder.start(names.defaultDomain(), "range"));
  ASSERT_TRUE(profiler.stop().has_value());
  std::int64_t ranges = 0, lost = 0;
  for (const auto& [track, event] : kept->memory.all_events)
    ranges += event.kind != EventKind::recorder ? 1 : 0;
  for (const Loss& loss : kept->memory.losses) lost += loss.count;
  EXPECT_EQ(ranges + lost, kRanges);
}

}  // namespace
}  // namespace pitwall::nvtx::ranges_test
