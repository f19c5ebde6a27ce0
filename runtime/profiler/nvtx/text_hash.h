// A 64-bit hash that identifies a text, to find names that are pushed thousands of times per second. The
// probability of a collision among a million texts is 1 in 30 million.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace pitwall::nvtx {

static_assert(std::endian::native == std::endian::little);

__extension__ using Wide = unsigned __int128;

// Both halves of the product, so that each bit of the word affects nearly all bits of the result.
inline std::uint64_t mixed(std::uint64_t word, std::uint64_t by) {
  const Wide product = static_cast<Wide>(word) * by;
  auto high = static_cast<std::uint64_t>(product >> 64U);
  asm("" : "+r"(high));  // else the compiler moves both halves through memory
  return high ^ static_cast<std::uint64_t>(product);
}

// Each eight bytes have a different multiplier.
inline constexpr std::uint64_t kFirstMultiplier = 0xA0761D6478BD642FU, kNextMultiplier = 0x9E3779B97F4A7C15U;

// Hashes a text that ends within its page, eight bytes at a time; false if it does not. The last load reads
// beyond the end of the text, but not beyond the page.
__attribute__((no_sanitize("address", "thread"))) inline bool hashWithinPage(const char* text,
                                                                             std::uint64_t& hash) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U, kHighs = 0x8080808080808080U;
  constexpr std::uintptr_t kPage = 4096;
  const char* const last = text - reinterpret_cast<std::uintptr_t>(text) % kPage + kPage - 8;
  for (std::uint64_t by = kFirstMultiplier; text <= last; text += 8, by += kNextMultiplier) {
    std::uint64_t word = 0;
    std::memcpy(&word, text, sizeof word);
    // Some byte is zero, or not ASCII.
    if (((word - kOnes) & kHighs) != 0) [[unlikely]] {
      // The lowest set bit is the highest bit of the first zero byte.
      if (const std::uint64_t zeros = (word - kOnes) & ~word & kHighs; zeros != 0) {
        hash += mixed(word & ((zeros ^ (zeros - 1)) >> 8U), by);
        return true;
      }
    }
    hash += mixed(word, by);
  }
  return false;
}

// The same for any text, without reading beyond its end.
inline std::uint64_t hashAnywhere(const char* text, std::uint64_t hash) {
  for (std::uint64_t by = kFirstMultiplier;; by += kNextMultiplier) {
    std::uint64_t word = 0;
    unsigned bytes = 0;
    for (; bytes < 8 && text[bytes] != '\0'; ++bytes)
      word |= std::uint64_t{static_cast<unsigned char>(text[bytes])} << 8U * bytes;
    hash += mixed(word, by);
    if (bytes < 8) return hash;
    text += 8;
  }
}

}  // namespace pitwall::nvtx
