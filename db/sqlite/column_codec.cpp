#include "db/sqlite/column_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

static_assert(std::endian::native == std::endian::little, "columns are written as they lie in memory");

namespace pitwall::store {

namespace {

enum class ColumnType : std::uint8_t { integers = 0, wholeReals = 1, realBits = 2 };

constexpr std::size_t kFormatAt = 0, kBaseAt = 1, kCheckAt = 9, kHeaderBytes = 13;

// Not cryptographic: finds the damage of disks and copies. Eight bytes a step, so that it costs less than the
// encoding itself.
std::uint32_t checkOf(std::uint8_t format, std::uint64_t base, std::span<const std::byte> body) {
  constexpr std::uint64_t kPrime = 0x9e3779b97f4a7c15;
  std::uint64_t hash = (base ^ (std::uint64_t{format} << 56) ^ body.size()) * kPrime;
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;
  };
  std::size_t at = 0;
  for (; at + 8 <= body.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, body.data() + at, 8);
    mix(word);
  }
  if (at < body.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, body.data() + at, body.size() - at);
    mix(word);
  }
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

int widthFor(std::uint64_t range) {
  if (range == 0) return 0;
  if (range <= 0xff) return 1;
  if (range <= 0xffff) return 2;
  return range <= 0xffffffff ? 4 : 8;
}

template <class Offset>
void pack(std::span<const std::int64_t> values, std::uint64_t base, std::byte* out) {
  for (const std::int64_t value : values) {
    const auto offset = static_cast<Offset>(static_cast<std::uint64_t>(value) - base);
    std::memcpy(out, &offset, sizeof offset);
    out += sizeof offset;
  }
}

template <class Offset>
void unpack(const std::byte* in, std::uint64_t base, std::span<std::int64_t> values) {
  for (std::int64_t& value : values) {
    Offset offset = 0;
    std::memcpy(&offset, in, sizeof offset);
    in += sizeof offset;
    value = static_cast<std::int64_t>(base + offset);
  }
}

void encode(std::span<const std::int64_t> values, std::int64_t least, std::int64_t greatest, ColumnType type,
            std::vector<std::byte>& out) {
  const auto base = static_cast<std::uint64_t>(least);
  const int width = widthFor(static_cast<std::uint64_t>(greatest) - base);
  out.resize(kHeaderBytes + values.size() * static_cast<std::size_t>(width));
  const auto format = static_cast<std::uint8_t>((static_cast<int>(type) << 4) | width);
  std::byte* body = out.data() + kHeaderBytes;
  switch (width) {
    case 1: pack<std::uint8_t>(values, base, body); break;
    case 2: pack<std::uint16_t>(values, base, body); break;
    case 4: pack<std::uint32_t>(values, base, body); break;
    case 8: pack<std::uint64_t>(values, base, body); break;
    default: break;
  }
  const std::uint32_t check = checkOf(format, base, std::span(out).subspan(kHeaderBytes));
  std::memcpy(out.data() + kFormatAt, &format, sizeof format);
  std::memcpy(out.data() + kBaseAt, &base, sizeof base);
  std::memcpy(out.data() + kCheckAt, &check, sizeof check);
}

bool isWhole(double value) {
  constexpr double kLimit = 9007199254740992.0;  // 2^53: every whole double below it is exact as an integer
  return std::abs(value) <= kLimit && std::trunc(value) == value && !(value == 0 && std::signbit(value));
}

}  // namespace

void encodeColumn(std::span<const std::int64_t> values, std::int64_t least, std::int64_t greatest,
                  std::vector<std::byte>& out) {
  encode(values, least, greatest, ColumnType::integers, out);
}

void encodeColumn(std::span<const std::int64_t> values, std::vector<std::byte>& out) {
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  encodeColumn(values, *least, *greatest, out);
}

void encodeReals(std::span<const double> values, std::vector<std::byte>& out) {
  const bool whole = std::all_of(values.begin(), values.end(), isWhole);
  std::vector<std::int64_t> numbers(values.size());
  std::transform(values.begin(), values.end(), numbers.begin(), [whole](double value) {
    return whole ? static_cast<std::int64_t>(value) : std::bit_cast<std::int64_t>(value);
  });
  const auto [least, greatest] = std::minmax_element(numbers.begin(), numbers.end());
  encode(numbers, *least, *greatest, whole ? ColumnType::wholeReals : ColumnType::realBits, out);
}

Result<std::vector<std::int64_t>> decodeColumn(std::span<const std::byte> bytes, std::int64_t count) {
  if (count < 1 || count > kMaxChunkRows)
    return fail(ErrorCode::corruptTrace, fmt::format("{} rows, allowed are 1 to {}", count, kMaxChunkRows));
  if (bytes.size() < kHeaderBytes)
    return fail(ErrorCode::corruptTrace, fmt::format("{} bytes, too few for a header", bytes.size()));
  std::uint8_t format = 0;
  std::uint64_t base = 0;
  std::uint32_t check = 0;
  std::memcpy(&format, bytes.data() + kFormatAt, sizeof format);
  std::memcpy(&base, bytes.data() + kBaseAt, sizeof base);
  std::memcpy(&check, bytes.data() + kCheckAt, sizeof check);
  const std::size_t width = format & 0x0f;
  const int type = format >> 4;
  if ((width > 2 && width != 4 && width != 8) || type > static_cast<int>(ColumnType::realBits))
    return fail(ErrorCode::corruptTrace, fmt::format("unknown format {:#04x}", format));
  const std::size_t expected = kHeaderBytes + static_cast<std::size_t>(count) * width;
  if (bytes.size() != expected)
    return fail(ErrorCode::corruptTrace, fmt::format("{} bytes instead of {}", bytes.size(), expected));
  const std::span<const std::byte> body = bytes.subspan(kHeaderBytes);
  if (checkOf(format, base, body) != check)
    return fail(ErrorCode::corruptTrace, "its check sum does not fit its content");

  std::vector<std::int64_t> values(static_cast<std::size_t>(count), static_cast<std::int64_t>(base));
  switch (width) {
    case 1: unpack<std::uint8_t>(body.data(), base, values); break;
    case 2: unpack<std::uint16_t>(body.data(), base, values); break;
    case 4: unpack<std::uint32_t>(body.data(), base, values); break;
    case 8: unpack<std::uint64_t>(body.data(), base, values); break;
    default: break;
  }
  if (type == static_cast<int>(ColumnType::wholeReals)) {
    for (std::int64_t& value : values) value = std::bit_cast<std::int64_t>(static_cast<double>(value));
  }
  return values;
}

}  // namespace pitwall::store
