#include "db/sqlite/column_codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

namespace pitwall::store {
namespace {

using Values = std::vector<std::int64_t>;
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();

std::vector<std::byte> encoded(const Values& values) {
  std::vector<std::byte> bytes;
  encodeColumn(values, bytes);
  return bytes;
}

void expectSame(const Values& values, std::size_t bytes_expected) {
  const std::vector<std::byte> bytes = encoded(values);
  EXPECT_EQ(bytes.size(), bytes_expected);
  const auto decoded = decodeColumn(bytes, static_cast<std::int64_t>(values.size()));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(*decoded, values);
}

TEST(ColumnCodec, UsesTheNarrowestWidth) {
  constexpr std::size_t kHeader = 13;
  expectSame({42, 42, 42}, kHeader);
  expectSame({-1, 254}, kHeader + 2);
  expectSame({-1, 255}, kHeader + 4);
  expectSame({0, 0xffff}, kHeader + 4);
  expectSame({0, 0x10000}, kHeader + 8);
  expectSame({7, 7 + 0xffffffffLL}, kHeader + 8);
  expectSame({7, 7 + 0x100000000LL}, kHeader + 16);
  expectSame({kLeast, kGreatest, 0, -1}, kHeader + 32);
}

TEST(ColumnCodec, GivesBackRandomColumns) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    Values values(1 + random() % 1000);
    const int shift = static_cast<int>(random() % 64);
    for (std::int64_t& value : values) value = static_cast<std::int64_t>(random()) >> shift;
    const auto decoded = decodeColumn(encoded(values), static_cast<std::int64_t>(values.size()));
    ASSERT_TRUE(decoded.has_value());
    ASSERT_EQ(*decoded, values);
  }
}

void expectSameReals(const std::vector<double>& values, std::size_t bytes_at_most) {
  std::vector<std::byte> bytes;
  encodeReals(values, bytes);
  EXPECT_LE(bytes.size(), bytes_at_most);
  const auto decoded = decodeColumn(bytes, static_cast<std::int64_t>(values.size()));
  ASSERT_TRUE(decoded.has_value());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ((*decoded)[i], std::bit_cast<std::int64_t>(values[i])) << values[i];
}

TEST(ColumnCodec, GivesBackRealsBitByBit) {
  expectSameReals({1, 2, 250, 0}, 13 + 4);  // whole numbers are narrow
  expectSameReals({9007199254740992.0, -9007199254740992.0}, 13 + 16);
  expectSameReals(
      {0.1, -0.0, 1e300, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
       std::numeric_limits<double>::quiet_NaN(), 5e-324},
      13 + 56);
  expectSameReals({-0.0}, 13);
}

TEST(ColumnCodec, RefusesWrongSizes) {
  const std::vector<std::byte> bytes = encoded({1, 2, 300});
  for (const std::int64_t count : {2, 4}) {
    const auto decoded = decodeColumn(bytes, count);
    ASSERT_FALSE(decoded.has_value());
    EXPECT_EQ(decoded.error().code, ErrorCode::corruptTrace);
    EXPECT_NE(decoded.error().message.find("bytes instead of"), std::string::npos) << decoded.error().message;
  }
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}, kMaxChunkRows + 1, kGreatest})
    EXPECT_FALSE(decodeColumn(bytes, count).has_value()) << count;
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decodeColumn(std::span(bytes).first(size), 3).has_value()) << size;
}

TEST(ColumnCodec, NoticesEveryFlippedBit) {
  const std::vector<std::byte> good = encoded({1, 2, 3, 4, 5, 6, 7, 8, 9, 1000});
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::vector<std::byte> bad = good;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(decodeColumn(bad, 10).has_value()) << "bit " << bit;
  }
}

}  // namespace
}  // namespace pitwall::store
