#include "db/sqlite/column_codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include "db/sqlite/bit_packing.h"
#include "db/try.h"

namespace pitwall::store::column_codec_test {
namespace {

using Values = std::vector<std::int64_t>;
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();
constexpr ColumnShape kShapes[] = {ColumnShape::scattered, ColumnShape::ascending, ColumnShape::repeating};
constexpr std::size_t kHeader = 13;

std::vector<std::byte> encoded(const Values& values, ColumnShape shape = ColumnShape::scattered) {
  std::vector<std::byte> bytes;
  ColumnEncoder().encode(values, shape, bytes);
  return bytes;
}

Result<Values> decoded(std::span<const std::byte> bytes, std::size_t rows) {
  Values values(rows, 0x5a5a5a5a5a5a5a5a);
  PITWALL_TRY(decodeColumn(bytes, values));
  return values;
}

int layoutOf(std::span<const std::byte> bytes) { return std::to_integer<int>(bytes[0]) & 0x0f; }

void expectSame(const Values& values, std::size_t bytes_expected) {
  for (const ColumnShape shape : kShapes) {
    const std::vector<std::byte> bytes = encoded(values, shape);
    EXPECT_LE(bytes.size(), bytes_expected);
    const auto back = decoded(bytes, values.size());
    ASSERT_TRUE(back.has_value()) << back.error().message;
    EXPECT_EQ(*back, values);
  }
}

TEST(ColumnCodec, UsesTheNarrowestWidth) {
  expectSame({42, 42, 42}, kHeader);
  expectSame({-1, 254}, kHeader + 2);
  expectSame({-1, 255}, kHeader + 4);
  expectSame({0, 0xffff}, kHeader + 4);
  expectSame({0, 0x10000}, kHeader + 8);
  expectSame({7, 7 + 0xffffffffLL}, kHeader + 8);
  expectSame({7, 7 + 0x100000000LL}, kHeader + 16);
  expectSame({kLeast, kGreatest, 0, -1}, kHeader + 32);
}

// A column with realistic or with extreme values.
Values randomColumn(std::mt19937_64& random, int round) {
  Values values(1 + random() % (round % 100 == 0 ? 70'000 : 1000));
  const int shift = static_cast<int>(random() % 64), outlier_shift = static_cast<int>(random() % 64);
  const std::uint64_t period = 1 + random() % 60;
  std::uint64_t last = random() >> (random() % 64);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto dice = static_cast<std::int64_t>(random());
    switch (round % 4) {
      case 0: values[i] = dice >> shift; break;
      case 1: values[i] = random() % 50 == 0 ? dice >> outlier_shift : dice >> 50; break;
      case 2:
        last += static_cast<std::uint64_t>(random() % 90 == 0 ? dice >> outlier_shift : (dice >> 52) + 2048);
        values[i] = static_cast<std::int64_t>(last);
        break;
      default: values[i] = i < period ? dice >> shift : values[i - period]; break;
    }
  }
  return values;
}

TEST(ColumnCodec, GivesBackRandomColumnsInEveryLayout) {
  std::mt19937_64 random(3);
  std::set<int> layouts;
  for (int round = 0; round < 600; ++round) {
    const Values values = randomColumn(random, round);
    for (const ColumnShape shape : kShapes) {
      const std::vector<std::byte> bytes = encoded(values, shape);
      layouts.insert(layoutOf(bytes));
      const auto back = decoded(bytes, values.size());
      ASSERT_TRUE(back.has_value()) << back.error().message;
      ASSERT_EQ(*back, values) << "round " << round;
    }
  }
  for (const int layout : {0, 9, 10, 11, 15}) EXPECT_TRUE(layouts.contains(layout)) << layout;
}

// A column in the oldest layout: plain numbers of the width, hashed word by word.
std::vector<std::byte> encodedPlain(const Values& values, std::int64_t least, int width) {
  std::vector<std::byte> body(values.size() * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t offset = static_cast<std::uint64_t>(values[i]) - static_cast<std::uint64_t>(least);
    std::memcpy(body.data() + i * static_cast<std::size_t>(width), &offset, static_cast<std::size_t>(width));
  }
  constexpr std::uint64_t kPrime = 0x9e3779b97f4a7c15;
  std::uint64_t hash =
      (static_cast<std::uint64_t>(least) ^ static_cast<std::uint64_t>(width) << 56 ^ body.size()) * kPrime;
  for (std::size_t at = 0; at < body.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, body.data() + at, std::min<std::size_t>(8, body.size() - at));
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;
  }
  const auto check = static_cast<std::uint32_t>(hash ^ hash >> 32);
  std::vector<std::byte> bytes(kHeader);
  bytes[0] = static_cast<std::byte>(width);
  std::memcpy(bytes.data() + 1, &least, sizeof least);
  std::memcpy(bytes.data() + 9, &check, sizeof check);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

TEST(ColumnCodec, ReadsPlainColumnsOfBefore) {
  std::mt19937_64 random(5);
  for (const int width : {1, 2, 4, 8}) {
    Values values(1001);
    const std::int64_t least = -77;
    for (std::int64_t& value : values)
      value = static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + (random() >> (64 - 8 * width)));
    const auto back = decoded(encodedPlain(values, least, width), values.size());
    ASSERT_TRUE(back.has_value()) << width << ": " << back.error().message;
    EXPECT_EQ(*back, values) << width;
  }
}

TEST(ColumnCodec, TakesTheFewBytesThatThereAreToTell) {
  std::mt19937_64 random(7);
  Values steps, mostly_small, pattern;
  std::int64_t now = 1'000'000'000;
  for (std::size_t i = 0; i < 8192; ++i) {
    steps.push_back(now += 5000 + static_cast<std::int64_t>(random() % 1024));
    mostly_small.push_back(static_cast<std::int64_t>(random() % (i % 100 == 0 ? 1'000'000'000 : 4096)));
    pattern.push_back(i < 300 ? static_cast<std::int64_t>(random() % 5000) : pattern[i - 300]);
  }
  EXPECT_LT(encoded(steps, ColumnShape::ascending).size(), 8192 * 10 / 8 + 64u);
  EXPECT_LT(encoded(mostly_small, ColumnShape::scattered).size(), 8192 * 12 / 8 + 82 * 6 + 64u);
  EXPECT_LT(encoded(pattern, ColumnShape::repeating).size(), 2000u);
}

void expectSameReals(const std::vector<double>& values, std::size_t bytes_at_most) {
  std::vector<std::byte> bytes;
  ColumnEncoder().encodeReals(values, bytes);
  EXPECT_LE(bytes.size(), bytes_at_most);
  const auto back = decoded(bytes, values.size());
  ASSERT_TRUE(back.has_value());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ((*back)[i], std::bit_cast<std::int64_t>(values[i])) << values[i];
}

TEST(ColumnCodec, GivesBackRealsBitByBit) {
  expectSameReals({1, 2, 250, 0}, kHeader + 4);  // whole numbers are narrow
  expectSameReals({9007199254740992.0, -9007199254740992.0}, kHeader + 16);
  expectSameReals(
      {0.1, -0.0, 1e300, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
       std::numeric_limits<double>::quiet_NaN(), 5e-324},
      kHeader + 56);
  expectSameReals({-0.0}, kHeader);
  std::vector<double> few_distinct(2000);
  for (std::size_t i = 0; i < few_distinct.size(); ++i) few_distinct[i] = 0.1 * static_cast<double>(i % 7);
  expectSameReals(few_distinct, 1000);
}

TEST(ColumnCodec, RefusesWrongSizes) {
  const std::vector<std::byte> bytes = encoded({1, 2, 300});
  for (const std::size_t count : {std::size_t{2}, std::size_t{4}}) {
    const auto back = decoded(bytes, count);
    ASSERT_FALSE(back.has_value());
    EXPECT_EQ(back.error().code, ErrorCode::corruptTrace);
    EXPECT_NE(back.error().message.find("bytes instead of"), std::string::npos) << back.error().message;
  }
  for (const std::size_t count : {std::size_t{0}, static_cast<std::size_t>(kMaxChunkRows) + 1})
    EXPECT_FALSE(decoded(bytes, count).has_value()) << count;
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decoded(std::span(bytes).first(size), 3).has_value()) << size;
}

// Columns whose layouts are packed, packed steps and zstd, besides plain numbers.
std::vector<std::vector<std::byte>> oneOfEachLayout(std::size_t rows) {
  Values plain, small, steps, pattern;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto number = static_cast<std::int64_t>(i * 0x9e3779b97f4a7c15 >> 8);
    plain.push_back(static_cast<std::int64_t>(i * 0x9e3779b97f4a7c15));
    small.push_back(i % 90 == 89 ? 1'000'000 : number % 7);
    steps.push_back((steps.empty() ? 0 : steps.back()) + 100 + number % 7);
    pattern.push_back(static_cast<std::int64_t>(i % 5) * 10'000);
  }
  return {encoded(plain), encoded(small), encoded(steps, ColumnShape::ascending),
          encoded(pattern, ColumnShape::repeating)};
}

TEST(ColumnCodec, NoticesEveryFlippedBitOfEveryLayout) {
  std::set<int> layouts;
  for (const std::vector<std::byte>& good : oneOfEachLayout(180)) {
    layouts.insert(layoutOf(good));
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      std::vector<std::byte> bad = good;
      bad[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_FALSE(decoded(bad, 180).has_value()) << "layout " << layoutOf(good) << ", bit " << bit;
    }
  }
  EXPECT_EQ(layouts, (std::set<int>{9, 10, 11, 15}));
}

// Bytes with a correct check sum that the encoder never produces: rejected or decoded, never read out of
// bounds.
TEST(ColumnCodec, UnpacksNothingFromBytesThatDoNotFit) {
  std::mt19937_64 random(11);
  std::vector<std::uint64_t> numbers(100);
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto bits = static_cast<std::byte>(random() % 70);
    std::vector<std::byte> bytes(random() % 900);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    if (bytes.size() > 6) {
      bytes[0] = bits;
      bytes[1] = static_cast<std::byte>(1 << random() % 5);
      for (std::size_t i = 2; i < 6; ++i) bytes[i] = static_cast<std::byte>(i == 2 ? random() % 120 : 0);
    }
    accepted += unpackNumbers(std::vector<std::byte>(bytes), numbers) ? 1 : 0;
  }
  EXPECT_LT(accepted, 200) << "only a size that fits by chance";
}

}  // namespace
}  // namespace pitwall::store::column_codec_test
