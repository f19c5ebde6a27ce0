// The sink that other tests rely on.
#include "tests/support/memory_sink.h"

#include <gtest/gtest.h>

#include "tests/support/random_trace.h"

namespace pitwall::test::memory_sink_test {
namespace {

TEST(MemorySink, KeepsThePromisesOfASink) {
  MemorySink sink;
  const RandomTrace trace = makeRandomTrace({.seed = 5});
  feed(sink, trace);
  EXPECT_EQ(sink.strings, trace.strings);
  EXPECT_EQ(sink.facts, trace.facts);
  EXPECT_EQ(sink.meta_values.at("host.name"), "there");
  EXPECT_EQ(sink.settings.at("OMP_NUM_THREADS").value, "8");
  EXPECT_EQ(sink.tunables.at("batch_size").value, 64);
  EXPECT_EQ(sink.string(trace.strings[3]), StringId{4});
  EXPECT_EQ(sink.operatorFacts(trace.facts[7]), OperatorId{8});
  const std::vector<Event> events = sink.eventsOf(TrackId{2});
  ASSERT_EQ(events.size(), trace.events[1].size());
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_TRUE(same(events[i], trace.events[1][i]));
}

TEST(MemorySink, PlaysAFullDisk) {
  MemorySink sink;
  sink.fail(ErrorCode::io, "the disk is full");
  sink.fail(ErrorCode::io, "again");
  sink.iteration({});
  EXPECT_TRUE(sink.iterations.empty());
  EXPECT_EQ(sink.flush().error().message, "the disk is full");
  EXPECT_EQ(sink.finish().error().message, "the disk is full");
}

TEST(MemorySink, IgnoresWhatComesAfterTheEnd) {
  MemorySink sink;
  EXPECT_TRUE(sink.finish().has_value());
  sink.loss({});
  EXPECT_TRUE(sink.losses.empty());
  EXPECT_TRUE(sink.finished);
}

}  // namespace
}  // namespace pitwall::test::memory_sink_test
