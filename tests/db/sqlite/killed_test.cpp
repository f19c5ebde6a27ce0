// Programs that are killed while they record.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>

#include "tests/db/sqlite/killed_run.h"

namespace pitwall::test::killed_test {
namespace {

namespace fs = std::filesystem;

// Events that a reader finds on either track at this moment, the lesser number.
std::int64_t seenByReaders(const std::string& path) {
  const auto trace = Trace::open(path);
  if (!trace.has_value() || (*trace)->tracks().size() != 2) return 0;
  std::int64_t least = INT64_MAX;
  for (const std::uint32_t track : {1U, 2U}) {
    const auto events = (*trace)->events(TrackId{track});
    least = std::min(least, events.has_value() ? static_cast<std::int64_t>(events->size()) : 0);
  }
  return least;
}

void expectWholePrefix(const std::string& path, std::int64_t at_least) {
  const std::string file = readBytes(path), log = readBytes(path + "-wal");
  const auto trace = mustOpen(path);
  ASSERT_NE(trace, nullptr);
  EXPECT_FALSE(trace->isComplete());
  ASSERT_EQ(trace->tracks().size(), 2u);
  for (const std::uint32_t track : {1u, 2u}) {
    const auto events = trace->events(TrackId{track});
    ASSERT_TRUE(events.has_value()) << events.error().message;
    EXPECT_GE(static_cast<std::int64_t>(events->size()), at_least);
    for (std::size_t i = 0; i < events->size(); ++i) {
      ASSERT_EQ((*events)[i].value, static_cast<std::int64_t>(i)) << "a hole";
      ASSERT_EQ(trace->string((*events)[i].name), "name " + std::to_string(i % 50));
    }
  }
  EXPECT_EQ(readBytes(path), file) << "reading changed the file";
  EXPECT_EQ(readBytes(path + "-wal"), log) << "reading changed the log";
}

TEST(Killed, AtRandomMomentsWithEveryConfirmedFlushThere) {
  const TempFolder folder;
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 20; ++round) {
    const std::string path = folder / (std::to_string(round) + ".pitwall");
    const std::chrono::milliseconds life(random() % 100);
    SCOPED_TRACE("round " + std::to_string(round) + ", life " + std::to_string(life.count()) + " ms");
    const KilledRun run = recordAndKill(path, true, after(life));
    ASSERT_GE(run.reports, 1);
    expectWholePrefix(path, run.reported);
    fs::remove(path);
    fs::remove(path + "-wal");
  }
}

// It commits without a flush: a reader sees an increasing number, and those events are there after the kill.
TEST(Killed, WithoutFlushesKeepsWhatReadersSaw) {
  const TempFolder folder;
  const std::string path = folder / "a.pitwall";
  std::int64_t seen = 0;
  int commits = 0;
  (void)recordAndKill(path, false, [&] {
    const std::int64_t now = seenByReaders(path);
    commits += now > seen;
    seen = std::max(seen, now);
    return commits == 3;
  });
  expectWholePrefix(path, seen);
}

TEST(Killed, TheTraceIsReplacedByTheNextRun) {
  const TempFolder folder;
  const std::string path = folder / "a.pitwall";
  (void)recordAndKill(path, true, after(std::chrono::milliseconds(50)));
  ASSERT_TRUE(fs::exists(path + "-wal"));
  const RandomTrace content = makeRandomTrace({});
  writeTrace(path, content);
  const auto trace = mustOpen(path);
  EXPECT_TRUE(trace->isComplete());
  EXPECT_EQ(mustCount(*trace, "SELECT count(*) FROM event"), 4 * 500);
}

}  // namespace
}  // namespace pitwall::test::killed_test
