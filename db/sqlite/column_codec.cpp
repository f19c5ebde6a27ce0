#include "db/sqlite/column_codec.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "db/sqlite/bit_packing.h"

static_assert(std::endian::native == std::endian::little, "columns are written in memory order");

namespace pitwall::store {

// The high nibble of a column's format.
enum class ColumnEncoder::Type : std::uint8_t { integers = 0, wholeReals = 1, realBits = 2 };

namespace {

// The low nibble. 0 to 8 are widths of plain numbers, of which only 0 is still written; the check sum of the
// others misses some bits of the last word, so plain numbers are written as 12 to 15: widths 1, 2, 4 and 8.
enum class Layout : std::uint8_t { packed = 9, packedSteps = 10, zstd = 11, plain1 = 12, plain8 = 15 };

constexpr std::size_t kFormatAt = 0, kBaseAt = 1, kCheckAt = 9, kHeaderBytes = 13;
constexpr int kTypes = 3;
constexpr int kLevel = 1;                // of zstd: the fastest of the usual ones
constexpr int kChunksToSkip = 15;        // after an attempt with zstd that gained nothing
constexpr std::size_t kWorthZstd = 256;  // bytes below which it is not tried

bool isOld(int layout) { return layout <= 2 || layout == 4 || layout == 8; }

// Bytes of a plain number, -1 for other layouts.
int plainWidth(int layout) {
  if (isOld(layout)) return layout;
  return layout >= static_cast<int>(Layout::plain1) ? 1 << (layout - static_cast<int>(Layout::plain1)) : -1;
}

int plainLayout(int width) {
  return width == 0 ? 0 : static_cast<int>(Layout::plain1) + std::countr_zero(static_cast<unsigned>(width));
}

// Not cryptographic: finds the damage of disks and copies. The older layouts are hashed word by word, the
// others in four streams of words, so that consecutive multiplications are independent.
std::uint32_t checkOf(std::uint8_t format, std::uint64_t base, std::span<const std::byte> body) {
  constexpr std::uint64_t kPrime = 0x9e3779b97f4a7c15;
  std::uint64_t hash = (base ^ (std::uint64_t{format} << 56) ^ body.size()) * kPrime;
  const auto mix = [](std::uint64_t& into, std::uint64_t word) {
    into = (into ^ word) * kPrime;
    into ^= into >> 32;
  };
  const auto word = [&body](std::size_t at, std::size_t bytes) {
    std::uint64_t read = 0;
    std::memcpy(&read, body.data() + at, bytes);
    return read;
  };
  std::size_t at = 0;
  const bool old = isOld(format & 0x0f);
  if (body.size() >= 64 && !old) {
    std::uint64_t lanes[4] = {hash, ~hash, hash + kPrime, hash - kPrime};
    for (; at + 32 <= body.size(); at += 32) {
      for (std::size_t lane = 0; lane < 4; ++lane) mix(lanes[lane], word(at + 8 * lane, 8));
    }
    for (const std::uint64_t lane : lanes) mix(hash, lane);
  }
  for (; at + 8 <= body.size(); at += 8) mix(hash, word(at, 8));
  if (at < body.size()) mix(hash, word(at, body.size() - at));
  if (!old) mix(hash, body.size());
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

void packWidth(int width, std::span<const std::int64_t> values, std::uint64_t base, std::byte* out) {
  switch (width) {
    case 1: return pack<std::uint8_t>(values, base, out);
    case 2: return pack<std::uint16_t>(values, base, out);
    case 4: return pack<std::uint32_t>(values, base, out);
    case 8: return pack<std::uint64_t>(values, base, out);
    default: return;
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

void unpackWidth(std::size_t width, const std::byte* in, std::uint64_t base, std::span<std::int64_t> values) {
  switch (width) {
    case 1: return unpack<std::uint8_t>(in, base, values);
    case 2: return unpack<std::uint16_t>(in, base, values);
    case 4: return unpack<std::uint32_t>(in, base, values);
    case 8: return unpack<std::uint64_t>(in, base, values);
    default: std::fill(values.begin(), values.end(), static_cast<std::int64_t>(base));
  }
}

// Writes the header in front of the body that begins at kHeaderBytes.
void seal(int type, int layout, std::uint64_t base, std::vector<std::byte>& out) {
  const auto format = static_cast<std::uint8_t>(type << 4 | layout);
  const std::uint32_t check = checkOf(format, base, std::span(out).subspan(kHeaderBytes));
  std::memcpy(out.data() + kFormatAt, &format, sizeof format);
  std::memcpy(out.data() + kBaseAt, &base, sizeof base);
  std::memcpy(out.data() + kCheckAt, &check, sizeof check);
}

bool isInteger(double value) {
  constexpr double kLimit = 9007199254740992.0;  // 2^53: every whole double below it is exact as an integer
  return std::abs(value) <= kLimit && std::trunc(value) == value && !(value == 0 && std::signbit(value));
}

Status wrongSize(std::size_t bytes, std::size_t expected) {
  return fail(ErrorCode::corruptTrace, fmt::format("{} bytes instead of {}", bytes, expected));
}

Status unpackZstd(std::span<const std::byte> body, std::uint64_t base, std::span<std::int64_t> values) {
  if (body.empty()) return fail(ErrorCode::corruptTrace, "0 bytes, too few to be compressed");
  const auto width = std::to_integer<std::size_t>(body[0]);
  if (width != 1 && width != 2 && width != 4 && width != 8)
    return fail(ErrorCode::corruptTrace, fmt::format("{} bytes a number", width));
  // In the upper part of the output: each number is read before its place is overwritten.
  const std::size_t size = values.size() * width;
  std::byte* const plain = reinterpret_cast<std::byte*>(values.data()) + (values.size_bytes() - size);
  const std::size_t got = ZSTD_decompress(plain, size, body.data() + 1, body.size() - 1);
  if (ZSTD_isError(got) != 0)
    return fail(ErrorCode::corruptTrace,
                fmt::format("it cannot be decompressed: {}", ZSTD_getErrorName(got)));
  if (got != size) return wrongSize(got, size);
  unpackWidth(width, plain, base, values);
  return {};
}

Status unpackSteps(std::span<const std::byte> body, std::uint64_t first, std::span<std::int64_t> values) {
  std::uint64_t least_step = 0;
  if (body.size() < sizeof least_step) return wrongSize(body.size(), sizeof least_step);
  std::memcpy(&least_step, body.data(), sizeof least_step);
  const std::span<std::uint64_t> numbers(reinterpret_cast<std::uint64_t*>(values.data()), values.size());
  if (!unpackNumbers(body.subspan(sizeof least_step), numbers))
    return fail(ErrorCode::corruptTrace, "its packed numbers do not fit its size");
  std::uint64_t value = first - least_step;  // the first step is least_step, so that it costs no bits
  for (std::uint64_t& number : numbers) number = value += least_step + number;
  return {};
}

Status unpackPacked(std::span<const std::byte> body, std::uint64_t base, std::span<std::int64_t> values) {
  const std::span<std::uint64_t> numbers(reinterpret_cast<std::uint64_t*>(values.data()), values.size());
  if (!unpackNumbers(body, numbers))
    return fail(ErrorCode::corruptTrace, "its packed numbers do not fit its size");
  for (std::uint64_t& number : numbers) number += base;
  return {};
}

}  // namespace

void ColumnEncoder::FreeContext::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

bool ColumnEncoder::packed(Type type, std::span<const std::int64_t> values, std::uint64_t least,
                           std::size_t at_most, std::vector<std::byte>& out) {
  numbers_.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) numbers_[i] = static_cast<std::uint64_t>(values[i]) - least;
  const PackPlan plan = planPacking(numbers_);
  if (plan.bytes + kHeaderBytes >= at_most) return false;
  out.resize(kHeaderBytes);
  packNumbers(numbers_, plan, out);
  seal(static_cast<int>(type), static_cast<int>(Layout::packed), least, out);
  return true;
}

bool ColumnEncoder::packedSteps(Type type, std::span<const std::int64_t> values, std::size_t at_most,
                                std::vector<std::byte>& out) {
  if (values.size() < 2) return false;
  const auto value = [&values](std::size_t i) { return static_cast<std::uint64_t>(values[i]); };
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 1; i < values.size(); ++i)
    least = std::min(least, static_cast<std::int64_t>(value(i) - value(i - 1)));
  const auto least_step = static_cast<std::uint64_t>(least);
  numbers_.resize(values.size());
  numbers_[0] = 0;
  for (std::size_t i = 1; i < values.size(); ++i) numbers_[i] = value(i) - value(i - 1) - least_step;
  const PackPlan plan = planPacking(numbers_);
  if (plan.bytes + sizeof least_step + kHeaderBytes >= at_most) return false;
  out.resize(kHeaderBytes + sizeof least_step);
  std::memcpy(out.data() + kHeaderBytes, &least_step, sizeof least_step);
  packNumbers(numbers_, plan, out);
  seal(static_cast<int>(type), static_cast<int>(Layout::packedSteps), value(0), out);
  return true;
}

bool ColumnEncoder::compressed(Type type, std::span<const std::int64_t> values, std::uint64_t least,
                               int width, std::size_t at_most, std::vector<std::byte>& out) {
  const std::size_t size = values.size() * static_cast<std::size_t>(width);
  if (size < kWorthZstd || at_most <= kHeaderBytes + 1) return false;
  if (context_ == nullptr) context_.reset(ZSTD_createCCtx());
  if (context_ == nullptr) return false;
  plain_.resize(size);
  packWidth(width, values, least, plain_.data());
  out.resize(std::max(at_most, kHeaderBytes + 1 + ZSTD_compressBound(size)));
  const std::size_t got = ZSTD_compressCCtx(context_.get(), out.data() + kHeaderBytes + 1,
                                            out.size() - kHeaderBytes - 1, plain_.data(), size, kLevel);
  if (ZSTD_isError(got) != 0 || got + kHeaderBytes + 1 >= at_most) return false;
  out.resize(kHeaderBytes + 1 + got);
  out[kHeaderBytes] = static_cast<std::byte>(width);
  seal(static_cast<int>(type), static_cast<int>(Layout::zstd), least, out);
  return true;
}

void ColumnEncoder::encode(Type type, std::span<const std::int64_t> values, std::int64_t least,
                           std::int64_t greatest, ColumnShape shape, Experience& experience,
                           std::vector<std::byte>& out) {
  const auto base = static_cast<std::uint64_t>(least);
  const std::uint64_t range = static_cast<std::uint64_t>(greatest) - base;
  const int width = widthFor(range);
  const auto bits = static_cast<std::size_t>(std::bit_width(range));
  const std::size_t plain = kHeaderBytes + values.size() * static_cast<std::size_t>(width);
  bool done = false;
  if (width != 0 && shape == ColumnShape::ascending) done = packedSteps(type, values, plain, out);
  // If the steps are as wide as the values, the values unpack faster.
  const std::size_t smaller = done ? out.size() : plain;
  if (width != 0 && (shape != ColumnShape::ascending || values.size() * bits / 8 < smaller)) {
    if (packed(type, values, base, smaller, other_)) {
      std::swap(out, other_);
      done = true;
    }
  }
  if (shape == ColumnShape::repeating && width != 0) {
    if (experience.skip > 0) {
      --experience.skip;
    } else {
      // Packed bits decode faster than zstd, which must be clearly smaller.
      const std::size_t limit = (done ? out.size() : plain) * 3 / 4;
      if (compressed(type, values, base, width, limit, other_)) {
        std::swap(out, other_);
        done = true;
      } else {
        experience.skip = kChunksToSkip;
      }
    }
  }
  if (done) return;
  out.resize(plain);
  packWidth(width, values, base, out.data() + kHeaderBytes);
  seal(static_cast<int>(type), plainLayout(width), base, out);
}

void ColumnEncoder::encode(std::span<const std::int64_t> values, std::int64_t least, std::int64_t greatest,
                           ColumnShape shape, Experience& experience, std::vector<std::byte>& out) {
  encode(Type::integers, values, least, greatest, shape, experience, out);
}

void ColumnEncoder::encode(std::span<const std::int64_t> values, ColumnShape shape,
                           std::vector<std::byte>& out) {
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  Experience none;
  encode(Type::integers, values, *least, *greatest, shape, none, out);
}

void ColumnEncoder::encodeReals(std::span<const double> values, std::vector<std::byte>& out) {
  const bool whole = std::all_of(values.begin(), values.end(), isInteger);
  std::vector<std::int64_t> numbers(values.size());
  std::transform(values.begin(), values.end(), numbers.begin(), [whole](double value) {
    return whole ? static_cast<std::int64_t>(value) : std::bit_cast<std::int64_t>(value);
  });
  const auto [least, greatest] = std::minmax_element(numbers.begin(), numbers.end());
  Experience none;
  encode(whole ? Type::wholeReals : Type::realBits, numbers, *least, *greatest, ColumnShape::repeating, none,
         out);
}

Status decodeColumn(std::span<const std::byte> bytes, std::span<std::int64_t> values) {
  if (values.empty() || values.size() > static_cast<std::size_t>(kMaxChunkRows)) {
    return fail(ErrorCode::corruptTrace,
                fmt::format("{} rows, allowed are 1 to {}", values.size(), kMaxChunkRows));
  }
  if (bytes.size() < kHeaderBytes)
    return fail(ErrorCode::corruptTrace, fmt::format("{} bytes, too few for a header", bytes.size()));
  std::uint8_t format = 0;
  std::uint64_t base = 0;
  std::uint32_t check = 0;
  std::memcpy(&format, bytes.data() + kFormatAt, sizeof format);
  std::memcpy(&base, bytes.data() + kBaseAt, sizeof base);
  std::memcpy(&check, bytes.data() + kCheckAt, sizeof check);
  const int layout = format & 0x0f;
  const int type = format >> 4;
  const bool plain = plainWidth(layout) >= 0;
  const bool known =
      plain || (layout >= static_cast<int>(Layout::packed) && layout <= static_cast<int>(Layout::zstd));
  if (!known || type >= kTypes)
    return fail(ErrorCode::corruptTrace, fmt::format("unknown format {:#04x}", format));
  const std::span<const std::byte> body = bytes.subspan(kHeaderBytes);
  const std::size_t width = plain ? static_cast<std::size_t>(plainWidth(layout)) : 0;
  if (plain && body.size() != values.size() * width)
    return wrongSize(bytes.size(), kHeaderBytes + values.size() * width);
  if (checkOf(format, base, body) != check)
    return fail(ErrorCode::corruptTrace, "its check sum does not match its content");
  Status status;
  if (plain) {
    unpackWidth(width, body.data(), base, values);
  } else {
    switch (static_cast<Layout>(layout)) {
      case Layout::packed: status = unpackPacked(body, base, values); break;
      case Layout::packedSteps: status = unpackSteps(body, base, values); break;
      default: status = unpackZstd(body, base, values); break;
    }
  }
  if (!status.has_value() || type != 1) return status;
  for (std::int64_t& value : values) value = std::bit_cast<std::int64_t>(static_cast<double>(value));
  return {};
}

}  // namespace pitwall::store
