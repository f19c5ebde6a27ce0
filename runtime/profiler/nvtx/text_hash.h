// A text as 64 bits that are taken for the text itself: what finds a name that is pushed thousands of times a
// second. Of a million different texts two are mistaken for each other with a chance of 1 in 30 million.
#pragma once

#include <cstdint>
#include <cstring>

namespace pitwall::nvtx {

__extension__ using Wide = unsigned __int128;

// Both halves of the product, so that each bit of the word reaches about all bits of the result.
inline std::uint64_t mixed(std::uint64_t word, std::uint64_t by) {
  const Wide product = static_cast<Wide>(word) * by;
  auto high = static_cast<std::uint64_t>(product >> 64U);
  asm("" : "+r"(high));  // else the compiler takes both halves through memory
  return high ^ static_cast<std::uint64_t>(product);
}

// At most eight bytes of the text, without a look beyond its end; the rest is 0.
[[gnu::noinline]] inline std::uint64_t wordUpToEnd(const char* text) {
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 8 && text[i] != '\0'; ++i)
    word |= std::uint64_t{static_cast<unsigned char>(text[i])} << 8U * i;
  return word;
}

// One pass, eight bytes at a time, each with a multiplier of its own. The load that finds the text's end
// reads beyond it, though never beyond its page.
__attribute__((no_sanitize("address", "thread"))) inline std::uint64_t hashOf(const char* text,
                                                                              std::uint64_t hash) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U, kHighs = 0x8080808080808080U;
  constexpr std::uintptr_t kPage = 4096;
  // Of this page, where eight bytes can be read.
  const char* last = text - reinterpret_cast<std::uintptr_t>(text) % kPage + kPage - 8;
  for (std::uint64_t by = 0xA0761D6478BD642FU;; text += 8, by += 0x9E3779B97F4A7C15U) {
    std::uint64_t word = 0;
    if (text > last) [[unlikely]] {
      word = wordUpToEnd(text);
      last += kPage;
    } else {
      std::memcpy(&word, text, sizeof word);
    }
    // Some byte is zero, or no ASCII.
    if (((word - kOnes) & kHighs) != 0) [[unlikely]] {
      // The lowest bit is the highest of the first byte that is zero.
      if (const std::uint64_t zeros = (word - kOnes) & ~word & kHighs; zeros != 0)
        return hash + mixed(word & ((zeros ^ (zeros - 1)) >> 8U), by);
    }
    hash += mixed(word, by);
  }
}

}  // namespace pitwall::nvtx
