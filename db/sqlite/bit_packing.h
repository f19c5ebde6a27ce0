// Unsigned numbers in as few bits as most of them need, with patches for the few larger ones.
//
//   u8 bits, u8 patch_width, u32 patch_count, then the low `bits` bits of each number one after the other,
//   from the lowest bit of the first byte on; then the position of each patch (u16 where the column has at
//   most 65536 rows, else u32), then what the patched numbers have above those bits, patch_width bytes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pitwall::store {

// The best packing of a column of numbers.
struct PackPlan {
  int bits = 0;               // 0..56 of each number
  int patch_width = 1;        // 1, 2, 4 or 8
  std::uint32_t patches = 0;  // numbers with more bits
  std::size_t bytes = 0;      // of all, with the header of this layout
};

// Numbers may be of any size; where more than 56 bits are common, `bytes` exceeds the size of plain numbers.
PackPlan planPacking(std::span<const std::uint64_t> numbers);

// Appends plan.bytes bytes.
void packNumbers(std::span<const std::uint64_t> numbers, const PackPlan& plan, std::vector<std::byte>& out);

// Fills `numbers`; false when the bytes cannot be the output of packNumbers() for that many.
bool unpackNumbers(std::span<const std::byte> bytes, std::span<std::uint64_t> numbers);

}  // namespace pitwall::store
