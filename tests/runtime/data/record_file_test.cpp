// Record files: round trips, and every kind of damage.
#include "runtime/record_file.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/data/random.h"
#include "tests/runtime/data/record_file_fixture.h"

namespace pitwall::data::record_file_test {
namespace {

using namespace record_file_fixture;
using RecordFileTest = RecordFileFixture;

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
