// Writing record files: the bytes of the format, and files that are complete or as they were.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "tests/runtime/data/record_file_fixture.h"

namespace pitwall::data::record_writer_test {
namespace {

using namespace record_file_fixture;
using RecordWriterTest = RecordFileFixture;

TEST_F(RecordWriterTest, WritesTheBytesOfTheFormat) {
  EXPECT_EQ(written({"record_0", "", "abcde"}), part(0, "record_0") + part(0, "") + part(0, "abcde"));
  EXPECT_EQ(contents(indexPath()), "0\t0\n1\t16\n2\t24\n");
}

TEST_F(RecordWriterTest, DividesARecordAtEachAlignedMagicNumber) {
  EXPECT_EQ(written({"abcd" + kMagic + "ef"}), part(1, "abcd") + part(3, "ef"));
  EXPECT_EQ(written({kMagic}), part(1, "") + part(3, ""));
  EXPECT_EQ(written({kMagic + kMagic + "x"}), part(1, "") + part(2, "") + part(3, "x"));
  EXPECT_EQ(written({"ab" + kMagic + "cd"}), part(0, "ab" + kMagic + "cd")) << "not at a multiple of 4";
  EXPECT_EQ(written({"abcd" + kMagic.substr(0, 3)}), part(0, "abcd" + kMagic.substr(0, 3)));
}

TEST_F(RecordWriterTest, NothingIsHalfWritten) {
  written({"old"});
  {
    const auto writer = RecordWriter::create(path(), indexPath());
    ASSERT_TRUE((*writer)->write(0, bytesOf("new")).has_value());
  }
  EXPECT_EQ(contents(path()), part(0, "old"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 2);
}

TEST_F(RecordWriterTest, AFullDiskIsAnErrorAndLeavesTheOldFile) {
  written({"old"});
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const auto writer = RecordWriter::create(path(), indexPath());
  const struct rlimit small { 1 << 16, before.rlim_max };
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = (*writer)->write(0, std::vector<std::uint8_t>(2 << 20));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::io);
  EXPECT_NE(status.error().message.find("a.rec: cannot be written: "), Text::npos) << status.error().message;
  EXPECT_EQ(contents(path()), part(0, "old"));
}

// The process that writes is killed at any moment: what was there stays, or the new file is there as a whole.
TEST_F(RecordWriterTest, AKillLeavesNothingHalfWritten) {
  const Text old = part(0, "old");
  Text whole;
  for (int i = 0; i < 200; ++i) whole += part(0, Text(20000, 'n'));
  for (int delay_us = 0; delay_us < 8000; delay_us += 500) {
    written({"old"});
    const pid_t child = fork();
    if (child == 0) {
      const auto writer = RecordWriter::create(path(), indexPath());
      for (std::uint64_t i = 0; i < 200; ++i)
        (void)(*writer)->write(i, std::vector<std::uint8_t>(20000, 'n'));
      (void)(*writer)->finish();
      _exit(0);
    }
    usleep(static_cast<useconds_t>(delay_us));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    const Text now = contents(path());
    EXPECT_TRUE(now == old || now == whole) << now.size() << " bytes after " << delay_us << " us";
    if (!std::filesystem::exists(indexPath())) continue;
    const auto places = readRecordIndex(indexPath(), static_cast<Bytes>(now.size()));
    ASSERT_TRUE(places.has_value()) << places.error().message;
    EXPECT_EQ(places->places.size(), now == old ? 1U : 200U) << "the index belongs to the records";
  }
}

TEST_F(RecordWriterTest, AFullDiskForTheIndexLeavesBothFiles) {
  written({"old"});
  const Text index = contents(indexPath());
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const auto writer = RecordWriter::create(path(), indexPath());
  for (std::uint64_t i = 0; i < 100; ++i)
    ASSERT_TRUE((*writer)->write(i + 1'000'000'000'000, std::vector<std::uint8_t>()).has_value());
  const struct rlimit small {
    850, before.rlim_max
  };  // the records fit, the index with its large keys does not
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = (*writer)->finish();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("a.idx: cannot be written: "), Text::npos) << status.error().message;
  EXPECT_NE(status.error().message.find("choose another path, or make room"), Text::npos);
  EXPECT_EQ(contents(path()), part(0, "old"));
  EXPECT_EQ(contents(indexPath()), index);
}

TEST(RecordWriter, ReplacesOnlyRegularFiles) {
  const auto writer = RecordWriter::create("/dev/full");
  ASSERT_FALSE(writer.has_value());
  EXPECT_EQ(writer.error().code, ErrorCode::invalidInput);
}

}  // namespace
}  // namespace pitwall::data::record_writer_test
