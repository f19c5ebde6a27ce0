// Record files for tests: their bytes as the format says, and what a reader makes of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "db/temporary.h"
#include "runtime/record_file.h"

namespace pitwall::data::record_file_fixture {

using Text = std::string;

inline std::span<const std::uint8_t> bytesOf(const Text& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline Text textOf(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Text word(std::uint32_t number) {
  Text text(4, '\0');
  std::memcpy(text.data(), &number, 4);
  return text;
}
inline const Text kMagic = word(0xced7230a);

// As the format says, independently of the writer.
inline Text part(unsigned kind, const Text& payload) {
  return kMagic + word(kind << 29U | static_cast<std::uint32_t>(payload.size())) + payload +
         Text((4 - payload.size() % 4) % 4, '\0');
}

// A record file and its index, in a temporary folder.
class RecordFileFixture : public testing::Test {
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

}  // namespace pitwall::data::record_file_fixture
