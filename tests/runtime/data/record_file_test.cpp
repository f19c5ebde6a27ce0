// Record files: the bytes of the format, round trips, and every kind of damage.
#include "runtime/record_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "db/temporary.h"
#include "runtime/data/random.h"

namespace pitwall::data::record_file_test {
namespace {

using Text = std::string;

std::span<const std::uint8_t> bytesOf(const Text& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
Text textOf(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
Text word(std::uint32_t number) {
  Text text(4, '\0');
  std::memcpy(text.data(), &number, 4);
  return text;
}
const Text kMagic = word(0xced7230a);

// As the format says, independently of the writer.
Text part(unsigned kind, const Text& payload) {
  return kMagic + word(kind << 29U | static_cast<std::uint32_t>(payload.size())) + payload +
         Text((4 - payload.size() % 4) % 4, '\0');
}

class RecordFileTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::create("a test");
    ASSERT_TRUE(folder.has_value()) << folder.error().message;
    folder_ = std::move(folder).value();
  }
  Text path() const { return folder_.file("a.rec"); }
  Text indexPath() const { return folder_.file("a.idx"); }

  Text written(const std::vector<Text>& records) const {
    const auto writer = RecordWriter::create(path(), indexPath());
    EXPECT_TRUE(writer.has_value()) << writer.error().message;
    for (std::size_t i = 0; i < records.size(); ++i)
      EXPECT_TRUE((*writer)->write(i, bytesOf(records[i])).has_value());
    EXPECT_TRUE((*writer)->finish().has_value());
    return contents(path());
  }
  static Text contents(const Text& file) {
    std::ostringstream all;
    all << std::ifstream(file, std::ios::binary).rdbuf();
    return all.str();
  }
  void put(const Text& bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }

  struct Read {
    std::vector<Text> records;
    std::vector<Bytes> offsets;
    RecordDamages damages;
  };
  Read read(Bytes buffer = 4096) const {
    Read result;
    const auto reader = RecordReader::open(path(), buffer);
    EXPECT_TRUE(reader.has_value()) << reader.error().message;
    Record record;
    for (;;) {
      const auto more = (*reader)->next(record);
      EXPECT_TRUE(more.has_value()) << more.error().message;
      if (!more.has_value() || !*more) break;
      result.records.push_back(textOf(record.bytes));
      result.offsets.push_back(record.offset);
    }
    result.damages = (*reader)->damages();
    // Finding the records by their heads gives the same.
    const auto found = findRecords(path());
    EXPECT_TRUE(found.has_value()) << found.error().message;
    EXPECT_EQ(found->damages.count, result.damages.count);
    EXPECT_EQ(found->places.size(), result.offsets.size());
    for (std::size_t i = 0; i < std::min(result.offsets.size(), found->places.size()); ++i)
      EXPECT_EQ(found->places[i].offset, result.offsets[i]);
    return result;
  }

  TemporaryFolder folder_;
};

TEST_F(RecordFileTest, WritesTheBytesOfTheFormat) {
  EXPECT_EQ(written({"record_0", "", "abcde"}), part(0, "record_0") + part(0, "") + part(0, "abcde"));
  EXPECT_EQ(contents(indexPath()), "0\t0\n1\t16\n2\t24\n");
}

TEST_F(RecordFileTest, DividesARecordAtEachAlignedMagicNumber) {
  EXPECT_EQ(written({"abcd" + kMagic + "ef"}), part(1, "abcd") + part(3, "ef"));
  EXPECT_EQ(written({kMagic}), part(1, "") + part(3, ""));
  EXPECT_EQ(written({kMagic + kMagic + "x"}), part(1, "") + part(2, "") + part(3, "x"));
  EXPECT_EQ(written({"ab" + kMagic + "cd"}), part(0, "ab" + kMagic + "cd")) << "not at a multiple of 4";
  EXPECT_EQ(written({"abcd" + kMagic.substr(0, 3)}), part(0, "abcd" + kMagic.substr(0, 3)));
}

TEST_F(RecordFileTest, ReadsWhatItWrote) {
  Random random(7);
  std::vector<Text> records;
  for (int i = 0; i < 400; ++i) {
    Text record;
    const std::uint64_t pieces = random.below(12);
    for (std::uint64_t p = 0; p < pieces; ++p) {
      const std::uint64_t kind = random.below(4);
      record +=
          kind == 0 ? kMagic : Text(random.below(kind == 1 ? 3000 : 9), static_cast<char>(random.next()));
    }
    records.push_back(record);
  }
  written(records);
  for (const Bytes buffer : {1, 5000, 1 << 20}) {
    const Read all = read(buffer);
    EXPECT_EQ(all.records, records);
    EXPECT_EQ(all.damages.count, 0);
    EXPECT_EQ(all.damages.describe("a.rec"), "");
  }
}

TEST_F(RecordFileTest, ReadsByIndexInAnyOrderFromSeveralThreads) {
  std::vector<Text> records;
  for (int i = 0; i < 200; ++i) records.push_back(Text(static_cast<std::size_t>(i), 'a') + kMagic + "z");
  written(records);
  const auto file = RecordFile::open(path());
  ASSERT_TRUE(file.has_value());
  const auto index = readRecordIndex(indexPath(), (*file)->size());
  ASSERT_TRUE(index.has_value()) << index.error().message;
  ASSERT_EQ(index->places.size(), 200U);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      std::vector<std::uint8_t> buffer;
      for (std::size_t i = 0; i < 200; ++i) {
        const std::size_t at = (i * 77 + static_cast<std::size_t>(t)) % 200;
        const auto record = (*file)->read(index->places[at], buffer);
        wrong += !record.has_value() || textOf(record->bytes) != records[at];
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(RecordFileTest, APlaceMayReachBeyondItsRecord) {
  const Text large(3 << 20, 'l');
  written({"small", large, "a" + Text(3, 'b') + kMagic + large, "last"});
  const auto file = RecordFile::open(path());
  std::vector<std::uint8_t> buffer;
  const auto first = (*file)->read({0, 0, (*file)->size()}, buffer);
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_EQ(textOf(first->bytes), "small");
  EXPECT_LE(buffer.size(), std::size_t{1} << 20) << "no more than needed";
  const auto second = (*file)->read({1, 16, (*file)->size() - 16}, buffer);
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(textOf(second->bytes), large);
  const Bytes third = 16 + 8 + (3 << 20);
  const auto parts = (*file)->read({2, third, (*file)->size() - third}, buffer);
  ASSERT_TRUE(parts.has_value()) << parts.error().message;
  EXPECT_EQ(parts->bytes.size(), large.size() + 8);
}

TEST_F(RecordFileTest, SeekContinuesThere) {
  written({"one", "two", "three"});
  const auto reader = RecordReader::open(path());
  ASSERT_TRUE(reader.has_value());
  Record record;
  ASSERT_TRUE((*reader)->seek(12).has_value());
  ASSERT_TRUE(*(*reader)->next(record));
  EXPECT_EQ(textOf(record.bytes), "two");
  EXPECT_EQ((*reader)->position(), 24);
  const Status outside = (*reader)->seek(1000);
  ASSERT_FALSE(outside.has_value());
  EXPECT_NE(outside.error().message.find("there is no byte 1000: the file has 40 bytes"), Text::npos)
      << outside.error().message;
}

TEST_F(RecordFileTest, AnEmptyFileHasNoRecords) {
  put("");
  EXPECT_TRUE(read().records.empty());
  EXPECT_EQ(read().damages.count, 0);
}

TEST_F(RecordFileTest, ADamagedRecordIsSkippedToTheNext) {
  const Text good = part(0, "good"), bad = part(0, Text(100, 'b'));
  Text broken = bad;
  broken[0] = 'X';  // its magic number
  put(good + broken + good);
  const Read all = read();
  EXPECT_EQ(all.records, (std::vector<Text>{"good", "good"}));
  ASSERT_EQ(all.damages.count, 1);
  EXPECT_EQ(all.damages.bytes, 108);
  EXPECT_EQ(all.damages.describe("a.rec"),
            "a.rec: 1 damaged place, 108 bytes skipped; at byte 12: there is no record (108 bytes)");
}

TEST_F(RecordFileTest, AWrongLengthHidesNoOtherRecord) {
  Text large = part(0, "12345678");
  large[4] = 60;  // reaches into the third record
  put(large + part(0, "second") + part(0, Text(200, 'c')) + part(0, "fourth"));
  const Read all = read();
  EXPECT_EQ(all.records, (std::vector<Text>{"second", Text(200, 'c'), "fourth"}));
  ASSERT_EQ(all.damages.count, 1);
  EXPECT_EQ(all.damages.first[0].what, "its length is wrong");
  EXPECT_EQ(all.damages.first[0].bytes, 16);
}

TEST_F(RecordFileTest, ALengthBeyondTheFileHidesNoOtherRecord) {
  Text large = part(0, "12345678");
  large[6] = '\x7f';
  put(large + part(0, "second"));
  const Read all = read();
  EXPECT_EQ(all.records, (std::vector<Text>{"second"}));
  EXPECT_EQ(all.damages.count, 1);
}

TEST_F(RecordFileTest, ATruncatedFileSaysWhere) {
  const Text whole = part(0, "first") + part(0, Text(50, 's'));
  for (const std::size_t kept : {17U, 20U, 24U, 40U, 75U}) {
    put(whole.substr(0, kept));
    const Read all = read();
    EXPECT_EQ(all.records, (std::vector<Text>{"first"}));
    ASSERT_EQ(all.damages.count, 1) << kept;
    EXPECT_EQ(all.damages.first[0].offset, 16);
    EXPECT_NE(
        all.damages.first[0].what.find("the file ends after " + std::to_string(kept - 16) + " of at least"),
        Text::npos)
        << all.damages.first[0].what;
  }
}

TEST_F(RecordFileTest, PartsInAWrongOrder) {
  const Text good = part(0, "good");
  for (const Text& bad : {part(2, "middle"), part(3, "last"), part(1, "first"), part(1, "a") + part(2, "b"),
                          part(7, "kind"), part(1, "a") + Text(8, 'x')}) {
    put(good + bad + good);
    const Read all = read();
    EXPECT_EQ(all.records, (std::vector<Text>{"good", "good"}));
    EXPECT_GE(all.damages.count, 1);
    EXPECT_EQ(all.damages.bytes, static_cast<Bytes>(bad.size()));
  }
}

TEST_F(RecordFileTest, WhatIsKeptOfDamageIsLimited) {
  Text all;
  for (int i = 0; i < 100; ++i) all += part(0, "good") + part(3, "bad!");
  put(all);
  const Read result = read();
  EXPECT_EQ(result.records.size(), 100U);
  EXPECT_EQ(result.damages.count, 100);
  EXPECT_EQ(result.damages.first.size(), RecordDamages::kMostKept);
  EXPECT_TRUE(result.damages.describe("a").ends_with("; ..."));
}

TEST_F(RecordFileTest, AReadOfWhatIsNoRecordSaysWhere) {
  put(part(0, "good") + part(3, "bad!"));
  const auto file = RecordFile::open(path());
  std::vector<std::uint8_t> buffer;
  const auto bad = (*file)->read({0, 12, 12}, buffer);
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().message, path() + ": at byte 12: a part of a record without its start");
  std::filesystem::resize_file(path(), 6);
  const auto shorter = (*file)->read({0, 0, 12}, buffer);
  ASSERT_FALSE(shorter.has_value());
  EXPECT_NE(shorter.error().message.find("the file ends at byte 6, 6 bytes before it should"), Text::npos)
      << shorter.error().message;
}

TEST_F(RecordFileTest, ADamagedIndexNamesTheLine) {
  const auto errorOf = [&](const Text& index) {
    std::ofstream(indexPath()) << index;
    const auto read = readRecordIndex(indexPath(), 100);
    EXPECT_FALSE(read.has_value());
    return read.has_value() ? Text() : read.error().message;
  };
  EXPECT_NE(errorOf("0\t0\n1 16\n").find("line 2: must be a key, a tabulator and an offset"), Text::npos);
  EXPECT_NE(errorOf("0\t0\n1\t16x\n").find("line 2"), Text::npos);
  EXPECT_NE(errorOf("x").find("line 1"), Text::npos);
  EXPECT_NE(errorOf("0\t0\n1\t100\n").find("offset 100 is outside the record file, which has 100 bytes"),
            Text::npos);
  const auto missing = readRecordIndex(folder_.file("none"), 100);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::notFound);
}

TEST_F(RecordFileTest, AnIndexMayHaveAnyOrder) {
  std::ofstream(indexPath()) << "7\t40\n3\t0\n9\t16\n";
  const auto read = readRecordIndex(indexPath(), 100);
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->places.size(), 3U);
  EXPECT_EQ(read->places[0].key, 7U);
  EXPECT_EQ(read->places[0].bytes, 60);
  EXPECT_EQ(read->places[1].bytes, 16);
  EXPECT_EQ(read->places[2].bytes, 24);
}

TEST_F(RecordFileTest, NothingIsHalfWritten) {
  written({"old"});
  {
    const auto writer = RecordWriter::create(path(), indexPath());
    ASSERT_TRUE((*writer)->write(0, bytesOf("new")).has_value());
  }
  EXPECT_EQ(contents(path()), part(0, "old"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 2);
}

TEST_F(RecordFileTest, AFullDiskIsAnErrorAndLeavesTheOldFile) {
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
TEST_F(RecordFileTest, AKillLeavesNothingHalfWritten) {
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

TEST_F(RecordFileTest, AFullDiskForTheIndexLeavesBothFiles) {
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

TEST(RecordReader, MissingFilesAndFolders) {
  const auto missing = RecordReader::open("/nonexistent/a.rec");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::notFound);
  const auto folder = RecordReader::open("/tmp");
  ASSERT_FALSE(folder.has_value());
  EXPECT_EQ(folder.error().message, "/tmp: must be a regular file");
}

TEST(ImageHeader, HasTheBytesOfTheFormat) {
  std::vector<std::uint8_t> record;
  appendImageHeader({{2.5F}, 7, 9}, record);
  EXPECT_EQ(textOf(record),
            word(0) + word(std::bit_cast<std::uint32_t>(2.5F)) + word(7) + word(0) + word(9) + word(0));
  record.clear();
  appendImageHeader({{1.0F, 2.0F}, 7, 0}, record);
  EXPECT_EQ(textOf(record), word(2) + word(0) + word(7) + word(0) + word(0) + word(0) +
                                word(std::bit_cast<std::uint32_t>(1.0F)) +
                                word(std::bit_cast<std::uint32_t>(2.0F)));
}

TEST(ImageHeader, RoundTripsAnyNumberOfLabels) {
  for (std::size_t count = 1; count < 255; ++count) {
    ImageHeader header;
    header.labels.clear();
    for (std::size_t i = 0; i < count; ++i) header.labels.push_back(static_cast<float>(i) / 3);
    header.id = count;
    std::vector<std::uint8_t> record;
    appendImageHeader(header, record);
    record.insert(record.end(), count, 'x');
    std::span<const std::uint8_t> rest = record;
    ImageHeader read;
    ASSERT_TRUE(takeImageHeader(rest, read).has_value());
    EXPECT_EQ(read.labels, header.labels);
    EXPECT_EQ(read.id, count);
    EXPECT_EQ(textOf(rest), Text(count, 'x'));
  }
}

TEST(ImageHeader, TooShort) {
  for (const Text& record : {Text(), Text(23, '\0'), word(3) + Text(20, '\0') + Text(8, 'l')}) {
    auto rest = bytesOf(record);
    ImageHeader header;
    const Status status = takeImageHeader(rest, header);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::invalidInput);
  }
}

}  // namespace
}  // namespace pitwall::data::record_file_test
