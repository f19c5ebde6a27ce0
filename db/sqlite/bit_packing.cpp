#include "db/sqlite/bit_packing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace pitwall::store {

namespace {

constexpr std::size_t kHeaderBytes = 6;
constexpr int kMostBits = 56;  // a number that starts at any bit of a byte then fits into eight bytes

int widthForBits(int bits) { return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8; }

std::size_t positionWidth(std::size_t rows) { return rows <= 65536 ? 2 : 4; }

std::size_t packedBytes(std::size_t rows, int bits) {
  return (rows * static_cast<std::size_t>(bits) + 7) / 8;
}

template <class Number>
void put(std::byte*& at, Number number) {
  std::memcpy(at, &number, sizeof number);
  at += sizeof number;
}

void putPatches(std::span<const std::uint64_t> numbers, const PackPlan& plan, std::byte* at) {
  const std::uint64_t most = (std::uint64_t{1} << plan.bits) - 1;
  std::byte* high = at + plan.patches * positionWidth(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] <= most) continue;
    if (positionWidth(numbers.size()) == 2) {
      put(at, static_cast<std::uint16_t>(i));
    } else {
      put(at, static_cast<std::uint32_t>(i));
    }
    const std::uint64_t rest = numbers[i] >> plan.bits;
    std::memcpy(high, &rest, static_cast<std::size_t>(plan.patch_width));
    high += plan.patch_width;
  }
}

// Eight bytes from `at`, or as many as there are.
std::uint64_t load(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t word = 0;
  if (at + sizeof word <= bytes.size()) {
    std::memcpy(&word, bytes.data() + at, sizeof word);
  } else if (at < bytes.size()) {
    std::memcpy(&word, bytes.data() + at, bytes.size() - at);
  }
  return word;
}

void unpackBits(std::span<const std::byte> packed, std::size_t bits, std::span<std::uint64_t> numbers) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  // Numbers whose eight bytes are all within the buffer: no bounds check for each of them.
  const std::size_t whole =
      packed.size() < 8 || bits == 0 ? 0 : std::min(numbers.size(), (packed.size() - 8) * 8 / bits);
  const std::byte* data = packed.data();
  for (std::size_t i = 0, at = 0; i < whole; ++i, at += bits) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + (at >> 3), sizeof word);
    numbers[i] = word >> (at & 7) & mask;
  }
  for (std::size_t i = whole; i < numbers.size(); ++i)
    numbers[i] = load(packed, i * bits >> 3) >> (i * bits & 7) & mask;
}

}  // namespace

PackPlan planPacking(std::span<const std::uint64_t> numbers) {
  // Four separate counters: equal neighbours would depend on each other's increment.
  std::array<std::array<std::uint32_t, 65>, 4> counts = {};
  for (std::size_t i = 0; i < numbers.size(); ++i)
    ++counts[i & 3][static_cast<std::size_t>(std::bit_width(numbers[i]))];
  int most = 64;
  const auto count = [&counts](int bits) {
    const auto at = static_cast<std::size_t>(bits);
    return counts[0][at] + counts[1][at] + counts[2][at] + counts[3][at];
  };
  while (most > 0 && count(most) == 0) --most;
  PackPlan best;
  best.bytes = static_cast<std::size_t>(-1);
  std::uint32_t beyond = 0;
  for (int bits = most; bits >= 0; --bits) {
    if (bits <= kMostBits) {
      const int width = widthForBits(most - bits);
      const std::size_t bytes = kHeaderBytes + packedBytes(numbers.size(), bits) +
                                beyond * (positionWidth(numbers.size()) + static_cast<std::size_t>(width));
      if (bytes < best.bytes) best = {bits, width, beyond, bytes};
    }
    beyond += count(bits);
  }
  return best;
}

void packNumbers(std::span<const std::uint64_t> numbers, const PackPlan& plan, std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  out.resize(begin + plan.bytes);
  std::byte* at = out.data() + begin;
  put(at, static_cast<std::uint8_t>(plan.bits));
  put(at, static_cast<std::uint8_t>(plan.patch_width));
  put(at, plan.patches);
  std::byte* const patches = at + packedBytes(numbers.size(), plan.bits);
  const std::uint64_t mask = (std::uint64_t{1} << plan.bits) - 1;
  std::uint64_t pending = 0;
  int used = 0;
  for (const std::uint64_t number : numbers) {
    const std::uint64_t low = number & mask;
    pending |= low << used;
    used += plan.bits;
    if (used < 64) continue;
    put(at, pending);
    used -= 64;
    pending = used == 0 ? 0 : low >> (plan.bits - used);
  }
  if (used > 0) std::memcpy(at, &pending, static_cast<std::size_t>(patches - at));
  if (plan.patches > 0) putPatches(numbers, plan, patches);
}

bool unpackNumbers(std::span<const std::byte> bytes, std::span<std::uint64_t> numbers) {
  if (bytes.size() < kHeaderBytes) return false;
  const auto bits = std::to_integer<std::size_t>(bytes[0]);
  const auto width = std::to_integer<std::size_t>(bytes[1]);
  std::uint32_t patches = 0;
  std::memcpy(&patches, bytes.data() + 2, sizeof patches);
  if (bits > kMostBits || (width != 1 && width != 2 && width != 4 && width != 8) || patches > numbers.size())
    return false;
  const std::size_t position = positionWidth(numbers.size());
  const std::size_t packed = packedBytes(numbers.size(), static_cast<int>(bits));
  if (bytes.size() != kHeaderBytes + packed + patches * (position + width)) return false;
  unpackBits(bytes.subspan(kHeaderBytes, packed), bits, numbers);
  const std::byte* at = bytes.data() + kHeaderBytes + packed;
  const std::byte* high = at + patches * position;
  for (std::uint32_t i = 0; i < patches; ++i, at += position, high += width) {
    std::uint32_t row = 0;
    std::uint64_t rest = 0;
    std::memcpy(&row, at, position);
    std::memcpy(&rest, high, width);
    if (row >= numbers.size()) return false;
    numbers[row] |= rest << bits;
  }
  return true;
}

}  // namespace pitwall::store
