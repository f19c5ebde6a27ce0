// Several threads, several traces; for the thread sanitizer above all.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/db/sqlite/trace_files.h"

namespace pitwall::test::concurrency_test {
namespace {

void writeNumbered(TraceSink& sink, TrackId track, int first, int count) {
  std::vector<Event> events;
  for (int i = 0; i < count; ++i) events.push_back({.start_ns = first + i, .dur_ns = 1, .value = first + i});
  sink.events(track, events);
}

TEST(Concurrency, SinksDoNotDisturbEachOther) {
  const TempFolder folder;
  const RandomTrace content = makeRandomTrace({.seed = 9});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const std::string path = folder / (std::to_string(i) + ".pitwall");
      writeTrace(path, content, {.chunk_events = 10 + i});
      const auto trace = mustOpen(path);
      EXPECT_EQ(mustCount(*trace, "SELECT count(*) FROM event"), 4 * 500);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// One thread at a time, as the contract requires, but not always the same one.
TEST(Concurrency, TheProducerMayMoveBetweenThreads) {
  const TempFolder folder;
  const auto sink = mustCreate(folder / "a.pitwall");
  const TrackId track = sink->track({});
  for (int round = 0; round < 20; ++round) {
    std::thread([&] {
      writeNumbered(*sink, track, round * 1000, 1000);
      sink->string("round " + std::to_string(round % 7));
      if (round % 3 == 0) {
        EXPECT_TRUE(sink->flush().has_value());
      }
    }).join();
  }
  std::thread([&] { EXPECT_TRUE(sink->finish().has_value()); }).join();
  const std::vector<Event> events = mustOpen(folder / "a.pitwall")->events(track).value();
  ASSERT_EQ(events.size(), 20'000u);
  for (std::size_t i = 0; i < events.size(); ++i) ASSERT_EQ(events[i].value, static_cast<std::int64_t>(i));
}

TEST(Concurrency, ReadersSeeWholeCommits) {
  const TempFolder folder;
  const std::string path = folder / "a.pitwall";
  const auto sink = mustCreate(path);
  const TrackId track = sink->track({});
  ASSERT_TRUE(sink->flush().has_value());
  std::atomic<bool> done{false};
  std::thread reader([&] {
    std::size_t last = 0;
    while (!done.load()) {
      const auto trace = mustOpen(path);
      if (trace == nullptr) return;
      const auto events = trace->events(track);
      ASSERT_TRUE(events.has_value()) << events.error().message;
      EXPECT_EQ(events->size() % 100, 0u);
      EXPECT_GE(events->size(), last);
      last = events->size();
    }
  });
  for (int round = 0; round < 50; ++round) {
    writeNumbered(*sink, track, round * 100, 100);
    EXPECT_TRUE(sink->flush().has_value());
  }
  done.store(true);
  reader.join();
  EXPECT_TRUE(sink->finish().has_value());
  EXPECT_EQ(mustOpen(path)->events(track).value().size(), 5000u);
}

}  // namespace
}  // namespace pitwall::test::concurrency_test
