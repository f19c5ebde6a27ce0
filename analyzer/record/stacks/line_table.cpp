#include "analyzer/record/stacks/line_table.h"

#include <cstddef>

namespace pitwall::record {
namespace {

constexpr int kMostLine = 100'000'000;

int checked(std::int64_t line) { return line > 0 && line < kMostLine ? static_cast<int>(line) : 0; }

// Instruction addresses are in bytes; the line of an address is that of the last pair that begins at or
// before it.
int fromPairs(std::span<const std::uint8_t> table, std::int64_t line, std::int64_t byte) {
  std::int64_t at = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    at += table[i];
    if (at > byte) break;
    line += static_cast<std::int8_t>(table[i + 1]);
  }
  return checked(line);
}

int fromRanges(std::span<const std::uint8_t> table, std::int64_t line, std::int64_t byte) {
  constexpr std::int8_t kNoLine = -128;
  std::int64_t end = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    const auto delta = static_cast<std::int8_t>(table[i + 1]);
    end += table[i];
    if (delta != kNoLine) line += delta;
    if (byte < end) return delta == kNoLine ? 0 : checked(line);
  }
  return 0;
}

// Six bits per byte, least significant first; bit 6 = more follow. A signed number has its sign in bit 0.
class Varints {
 public:
  Varints(std::span<const std::uint8_t> table, std::size_t at) : table_(table), at_(at) {}
  std::int64_t takeSigned() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ < table_.size() && shift < 36; shift += 6) {
      const std::uint8_t byte = table_[at_++];
      value |= std::uint64_t{byte & 63u} << shift;
      if ((byte & 64) == 0) break;
    }
    const auto half = static_cast<std::int64_t>(value >> 1);
    return (value & 1) != 0 ? -half : half;
  }

 private:
  std::span<const std::uint8_t> table_;
  std::size_t at_;
};

// The first byte of an entry: bit 7 set, a code in bits 3..6, the length less one in bits 0..2. The bytes up to
// the next one with bit 7 belong to the entry.
int fromLocations(std::span<const std::uint8_t> table, std::int64_t line, std::int64_t byte) {
  constexpr int kNone = 15, kLong = 14, kNoColumns = 13, kOneLine2 = 12, kOneLine0 = 10;
  constexpr std::int64_t kUnitBytes = 2;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < table.size();) {
    if ((table[i] & 128) == 0) return 0;
    const int code = (table[i] >> 3) & 15;
    end += ((table[i] & 7) + 1) * kUnitBytes;
    if (code == kLong || code == kNoColumns) line += Varints(table, i + 1).takeSigned();
    if (code >= kOneLine0 && code <= kOneLine2) line += code - kOneLine0;
    if (byte < end) return code == kNone ? 0 : checked(line);
    for (++i; i < table.size() && (table[i] & 128) == 0;) ++i;
  }
  return 0;
}

}  // namespace

int lineAt(LineFormat format, std::span<const std::uint8_t> table, int first_line, std::int64_t byte) {
  if (byte < 0) return checked(first_line);  // before its first instruction
  switch (format) {
    case LineFormat::pairs: return fromPairs(table, first_line, byte);
    case LineFormat::ranges: return fromRanges(table, first_line, byte);
    case LineFormat::locations: return fromLocations(table, first_line, byte);
  }
  return 0;
}

}  // namespace pitwall::record
