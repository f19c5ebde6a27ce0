// Programs that lack permission to write, or run out of disk space.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <random>

#include "tests/db/sqlite/child_process.h"
#include "tests/db/sqlite/killed_run.h"
#include "tests/db/sqlite/trace_files.h"

namespace pitwall::test::unwritable_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kSkip = 77;

// --- not allowed to write ---------------------------------------------------------------------------------

// Root may write everywhere: become the user nobody. False when that is not possible.
bool becomeNobody() {
  if (::geteuid() != 0) return true;
  return ::setgroups(0, nullptr) == 0 && ::setgid(65534) == 0 && ::setuid(65534) == 0;
}

// A folder that contains `path` and is not writable.
void lockFolder(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) fs::permissions(entry.path(), fs::perms(0444));
  fs::permissions(folder, fs::perms(0555));
}

void unlockFolder(const fs::path& folder) { fs::permissions(folder, fs::perms(0755)); }

int expectReadable(const std::string& path, bool complete, std::size_t events_at_least) {
  if (!becomeNobody()) return kSkip;
  CHILD_CHECK(::access(fs::path(path).parent_path().c_str(), W_OK) != 0, "the folder can be written");
  const auto trace = Trace::open(path);
  CHILD_CHECK(trace.has_value(), trace.error().message);
  CHILD_CHECK((*trace)->isComplete() == complete, "completeness");
  const auto events = (*trace)->events(TrackId{1});
  CHILD_CHECK(events.has_value(), events.error().message);
  CHILD_CHECK(events->size() >= events_at_least, "events are missing: " + std::to_string(events->size()));
  const auto rows = (*trace)->query("CREATE TEMP TABLE t AS SELECT * FROM event; SELECT count(*) FROM t");
  CHILD_CHECK(rows.has_value(), rows.error().message);
  return 0;
}

#define EXPECT_CHILD_FINE(child)                                                                    \
  do {                                                                                              \
    const int child_code = waitForChild(child);                                                     \
    if (child_code == kSkip) GTEST_SKIP() << "needs what this sandbox does not give (user, mount)"; \
    EXPECT_EQ(child_code, 0);                                                                       \
  } while (false)

class ReadOnlyFolder : public ::testing::Test {
 protected:
  void TearDown() override { unlockFolder(folder_.path()); }
  TempFolder folder_;
  std::string path_ = folder_ / "a.pitwall";
};

TEST_F(ReadOnlyFolder, GivesAFinishedTrace) {
  writeTrace(path_, makeRandomTrace({}));
  lockFolder(folder_.path());
  EXPECT_CHILD_FINE(forkChild([&] { return expectReadable(path_, true, 500); }));
}

TEST_F(ReadOnlyFolder, GivesAnAbandonedTrace) {
  { feed(*mustCreate(path_), makeRandomTrace({})); }
  lockFolder(folder_.path());
  EXPECT_CHILD_FINE(forkChild([&] { return expectReadable(path_, false, 500); }));
}

TEST_F(ReadOnlyFolder, GivesAKilledTrace) {
  const KilledRun run = recordAndKill(path_, true, after(std::chrono::milliseconds(100)));
  lockFolder(folder_.path());
  EXPECT_CHILD_FINE(
      forkChild([&] { return expectReadable(path_, false, static_cast<std::size_t>(run.reported)); }));
}

TEST_F(ReadOnlyFolder, GivesAKilledTraceThatWasCopiedWithItsLog) {
  const KilledRun run = recordAndKill(path_, true, after(std::chrono::milliseconds(100)));
  fs::remove(path_ + "-shm");
  lockFolder(folder_.path());
  EXPECT_CHILD_FINE(
      forkChild([&] { return expectReadable(path_, false, static_cast<std::size_t>(run.reported)); }));
}

TEST_F(ReadOnlyFolder, TakesNoTrace) {
  lockFolder(folder_.path());
  EXPECT_CHILD_FINE(forkChild([&] {
    if (!becomeNobody()) return kSkip;
    const auto sink = createTrace(path_);
    CHILD_CHECK(!sink.has_value(), "it was created");
    CHILD_CHECK(sink.error().code == ErrorCode::io, sink.error().message);
    CHILD_CHECK(sink.error().message.find(path_) != std::string::npos, sink.error().message);
    CHILD_CHECK(sink.error().message.find("Permission denied") != std::string::npos, sink.error().message);
    CHILD_CHECK(sink.error().message.find("may write") != std::string::npos, sink.error().message);
    return 0;
  }));
}

TEST(UnreadableFile, SaysSo) {
  const TempFolder folder;
  const std::string path = folder / "a.pitwall";
  writeTrace(path, makeRandomTrace({}));
  fs::permissions(folder.path(), fs::perms(0755));
  fs::permissions(path, fs::perms(0000));
  EXPECT_CHILD_FINE(forkChild([&] {
    if (!becomeNobody()) return kSkip;
    const auto trace = Trace::open(path);
    CHILD_CHECK(!trace.has_value(), "it opened");
    CHILD_CHECK(trace.error().code == ErrorCode::io, trace.error().message);
    CHILD_CHECK(trace.error().message.find(path) != std::string::npos, trace.error().message);
    return 0;
  }));
}

// --- no space left ----------------------------------------------------------------------------------------

// Records until the disk is full, and then some more: the producer continues, gets the error, and flushed
// data is kept.
int recordUntilFull(const std::string& path, std::int64_t& confirmed) {
  auto sink = createTrace(path);
  CHILD_CHECK(sink.has_value(), sink.error().message);
  TraceSink& s = **sink;
  const TrackId track = s.track({});
  std::vector<Event> events(10'000);
  std::mt19937_64 random(1);
  Status flushed;
  std::int64_t written = 0;
  while (flushed.has_value() && written < 10'000'000) {
    confirmed = written;
    for (Event& event : events) {
      event = {.start_ns = written, .dur_ns = static_cast<TimeNs>(random() >> 1), .value = written};
      ++written;
    }
    s.events(track, events);
    flushed = s.flush();
  }
  CHILD_CHECK(!flushed.has_value(), "the disk never was full");
  const Error first = flushed.error();
  CHILD_CHECK(first.code == ErrorCode::io, first.message);
  CHILD_CHECK(first.message.find(path) != std::string::npos, first.message);
  CHILD_CHECK(first.message.find("space") != std::string::npos, first.message);
  for (int i = 0; i < 1000; ++i)
    s.events(track, events);  // ten million events: must neither wait nor pile up
  CHILD_CHECK(s.flush().error().message == first.message, "another error than the first");
  CHILD_CHECK(s.finish().error().message == first.message, "another error than the first");
  return 0;
}

int expectConfirmed(const std::string& path, std::int64_t confirmed) {
  CHILD_CHECK(confirmed > 0, "nothing was confirmed");
  const auto trace = Trace::open(path);
  CHILD_CHECK(trace.has_value(), trace.error().message);
  CHILD_CHECK(!(*trace)->isComplete(), "marked complete");
  const auto events = (*trace)->events(TrackId{1});
  CHILD_CHECK(events.has_value(), events.error().message);
  CHILD_CHECK(static_cast<std::int64_t>(events->size()) >= confirmed, "confirmed events are gone");
  for (std::size_t i = 0; i < events->size(); ++i)
    CHILD_CHECK((*events)[i].value == static_cast<std::int64_t>(i), "a hole");
  return 0;
}

// A small disk for the child; removed with it.
bool mountSmallDisk(const std::string& at, const char* options) {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", at.c_str(), "tmpfs", 0, options) == 0;
}

TEST(FullDisk, IsReportedAndKeepsWhatWasFlushed) {
  const TempFolder folder;
  EXPECT_CHILD_FINE(forkChild([&] {
    if (!mountSmallDisk(folder.path().string(), "size=8m")) return kSkip;
    std::int64_t confirmed = 0;
    if (const int code = recordUntilFull(folder / "a.pitwall", confirmed); code != 0) return code;
    return expectConfirmed(folder / "a.pitwall", confirmed);
  }));
}

TEST(FullDisk, AtTheStartLeavesTheOldTrace) {
  const TempFolder folder;
  EXPECT_CHILD_FINE(forkChild([&] {
    if (!mountSmallDisk(folder.path().string(), "size=400k")) return kSkip;
    const std::string path = folder / "a.pitwall";
    {
      auto sink = createTrace(path);
      CHILD_CHECK(sink.has_value(), sink.error().message);
      (*sink)->string("old");
      const Status finished = (*sink)->finish();
      CHILD_CHECK(finished.has_value(), finished.error().message);
    }
    const auto second = createTrace(path);  // needs as much again
    CHILD_CHECK(!second.has_value(), "there was room");
    CHILD_CHECK(second.error().code == ErrorCode::io, second.error().message);
    CHILD_CHECK(second.error().message.find("free space") != std::string::npos, second.error().message);
    CHILD_CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1,
                "litter");
    const auto trace = Trace::open(path);
    CHILD_CHECK(trace.has_value(), trace.error().message);
    CHILD_CHECK((*trace)->isComplete(), "the old trace was touched");
    return 0;
  }));
}

// Without permission to mount: a limit on the size of files has the same effect.
TEST(FileSizeLimit, IsReportedAndKeepsWhatWasFlushed) {
  const TempFolder folder;
  EXPECT_CHILD_FINE(forkChild([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{6 << 20, 6 << 20};
    CHILD_CHECK(::setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
    std::int64_t confirmed = 0;
    if (const int code = recordUntilFull(folder / "a.pitwall", confirmed); code != 0) return code;
    return expectConfirmed(folder / "a.pitwall", confirmed);
  }));
}

}  // namespace
}  // namespace pitwall::test::unwritable_test
