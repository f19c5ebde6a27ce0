// The parts of a record in memory (runtime/record_file.h has the format).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace pitwall::data::record {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kMagic = 0xced7230a;
constexpr std::size_t kHeadBytes = 8;

enum class PartKind : std::uint8_t { whole, first, middle, last, unknown };

struct Head {
  PartKind kind;
  std::size_t bytes;  // of the payload
};

inline std::uint32_t wordAt(const std::uint8_t* bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

inline bool isHead(const std::uint8_t* bytes) { return wordAt(bytes) == kMagic; }

inline Head headAt(const std::uint8_t* bytes) {
  const std::uint32_t word = wordAt(bytes + 4);
  const std::uint32_t kind = word >> 29U;
  return {kind > 3 ? PartKind::unknown : static_cast<PartKind>(kind), word & ((1U << 29U) - 1)};
}

inline bool beginsRecord(PartKind kind) { return kind == PartKind::whole || kind == PartKind::first; }

inline std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

// The offset of the first magic number at a multiple of 4 from `from` on; bytes.size() when there is none.
std::size_t findMagic(std::span<const std::uint8_t> bytes, std::size_t from);

enum class Outcome : std::uint8_t {
  complete,
  incomplete,  // `bytes` more than given are needed to say more
  damaged,
};

struct Extent {
  Outcome outcome = Outcome::incomplete;
  std::size_t bytes = 0;       // complete: of all parts; incomplete: that are needed from the start on
  const char* what = nullptr;  // damaged
  bool has_parts = false;      // complete: more than one
};

// The record that starts at the first byte.
Extent extentOf(std::span<const std::uint8_t> bytes);

// The payload of a complete record; that of several parts is joined in place, which overwrites their heads.
std::span<const std::uint8_t> payloadOf(std::span<std::uint8_t> record);

}  // namespace pitwall::data::record
