// Unsigned numbers in as few bits as most of them need, the few larger ones beside them as patches.
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

// How a column of numbers is packed best.
struct PackPlan {
  int bits = 0;               // 0..56 of each number
  int patch_width = 1;        // 1, 2, 4 or 8
  std::uint32_t patches = 0;  // numbers with more bits
  std::size_t bytes = 0;      // of all, with the header of this layout
};

// Numbers may be of any size; where more than 56 bits are common, bytes is beyond what plain numbers take.
PackPlan planPacking(std::span<const std::uint64_t> numbers);

// Appends plan.bytes bytes.
void packNumbers(std::span<const std::uint64_t> numbers, const PackPlan& plan, std::vector<std::byte>& out);

// Fills `numbers`; false when the bytes cannot be what packNumbers() makes of so many.
bool unpackNumbers(std::span<const std::byte> bytes, std::span<std::uint64_t> numbers);

}  // namespace pitwall::store
