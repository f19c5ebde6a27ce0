// Times of records that are completed from rings.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "db/recovery/ring_file_reader.h"
#include "db/ring_format.h"
#include "db/store.h"
#include "runtime/profiler.h"
#include "tests/support/temp_folder.h"

namespace pitwall::recovery_clock_test {
namespace {

// What the drains have written and what is completed from the rings is on one axis, also when the program is killed
// while it replaces a pair of clocks.
TEST(RecoveryClock, TimesAreThoseOfTheDrains) {
  const test::TempFolder folder;
  const std::string trace = folder / "x.pitwall";
  class Source : public EventSource {
   public:
    void drain(DrainContext& context) override {
      const Ticks now = Profiler::now();
      moments.emplace_back(now, context.toNs(now));
    }
    std::vector<std::pair<Ticks, TimeNs>> moments;
  } source;
  Profiler profiler({.flush_interval_ms = 0});
  profiler.addSource(source);
  auto sink = createTrace(trace);
  ASSERT_TRUE(sink.has_value());
  ASSERT_TRUE(profiler.start(std::move(*sink), {.ring_path = ring::filePath(trace)}).has_value());
  const int file = ::open(ring::filePath(trace).c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(file, 0);
  const auto expectSame = [&](std::size_t latest) {
    struct stat state {};
    ASSERT_EQ(fstat(file, &state), 0);
    const auto rings =
        recovery::RingFileReader::open(file, static_cast<std::size_t>(state.st_size), "rings").value();
    const ring::ClockMap clock = rings->clock();
    for (std::size_t i = source.moments.size() - latest; i < source.moments.size(); ++i)
      EXPECT_EQ(clock.toNs(source.moments[i].first), source.moments[i].second) << i;
  };
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_TRUE(profiler.flush().has_value());
  }
  expectSame(20);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(profiler.flush().has_value());
  std::uint64_t written = 0;
  ASSERT_EQ(pread(file, &written, sizeof written, offsetof(ring::FileHeader, pairs_written)), 8);
  ASSERT_GT(written, ring::FileHeader::kPairs);
  // The next pair, half written.
  const std::uint64_t at = written % ring::FileHeader::kPairs;
  const std::size_t place = at < ring::FileHeader::kFirstPairs
                                ? offsetof(ring::FileHeader, first_pairs) + at * sizeof(ring::ClockPair)
                                : offsetof(ring::FileHeader, more_pairs) +
                                      (at - ring::FileHeader::kFirstPairs) * sizeof(ring::ClockPair);
  const Ticks now = Profiler::now();
  ASSERT_EQ(pwrite(file, &now, sizeof now, static_cast<off_t>(place)), 8);
  expectSame(50);
  ::close(file);
  ASSERT_TRUE(profiler.stop().has_value());
  profiler.removeSource(source);
}

}  // namespace
}  // namespace pitwall::recovery_clock_test
