// The inner loops of reading JSON: where a string, a number or a nested value ends, sixteen bytes at a time
// where the processor can (SSE2, which every x86-64 has), else one by one. None reads beyond `end`.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace pitwall::import {

namespace scan_detail {
inline constexpr auto kEndsWord = [] {
  std::array<bool, 256> ends{};
  for (const char c : {',', '}', ']', ':', '"', ' ', '\n', '\r', '\t'})
    ends[static_cast<unsigned char>(c)] = true;
  return ends;
}();
}  // namespace scan_detail

inline bool isJsonSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
inline bool endsJsonWord(char c) { return scan_detail::kEndsWord[static_cast<unsigned char>(c)]; }

#if defined(__SSE2__)
inline __m128i load16(const char* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }
inline unsigned bitsOf(__m128i bytes) { return static_cast<unsigned>(_mm_movemask_epi8(bytes)); }
#endif

// A small structure of numbers and views, made all zero. (For some hundred bytes compilers choose a string
// instruction, which takes half as long as parsing an event.)
template <class Plain>
inline void makeZero(Plain& what) {
  static_assert(std::is_trivially_copyable_v<Plain>);
#if defined(__SSE2__)
  static_assert(sizeof(Plain) % 16 == 0);
  auto* at = reinterpret_cast<char*>(&what);
#pragma GCC unroll 32
  for (std::size_t i = 0; i < sizeof(Plain); i += 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at + i), _mm_setzero_si128());
    __asm__ volatile("");  // else the compiler replaces the loop by that instruction
  }
#else
  what = Plain{};
#endif
}

// The first quote or backslash from `at`, or `end`.
inline const char* findQuoteOrEscape(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i slash = _mm_set1_epi8('\\');
  const auto hits = [&](const char* from) {
    const __m128i text = load16(from);
    return bitsOf(_mm_or_si128(_mm_cmpeq_epi8(text, quote), _mm_cmpeq_epi8(text, slash)));
  };
  while (end - at >= 32) {
    const unsigned found = hits(at) | (hits(at + 16) << 16);
    if (found != 0) return at + __builtin_ctz(found);
    at += 32;
  }
#endif
  while (at != end && *at != '"' && *at != '\\') ++at;
  return at;
}

// The end of the digits and points from `at`. May stop early: the caller checks the character there.
inline const char* skipDigits(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i lowest = _mm_set1_epi8('.');  // followed by '/' and the digits
  const __m128i most = _mm_set1_epi8('9' - '.');
  while (end - at >= 16) {
    const __m128i above = _mm_sub_epi8(load16(at), lowest);
    const unsigned other = ~bitsOf(_mm_cmpeq_epi8(_mm_min_epu8(above, most), above)) & 0xFFFFU;
    if (other != 0) return at + __builtin_ctz(other);
    at += 16;
  }
#endif
  while (at != end && *at >= '.' && *at <= '9') ++at;
  return at;
}

// Masks of 64 bytes, one bit each.
struct NestingBits {
  std::uint64_t quotes = 0;
  std::uint64_t escapes = 0;
  std::uint64_t opens = 0;   // { [
  std::uint64_t closes = 0;  // } ]
};

#if defined(__SSE2__)
inline NestingBits nestingBits(const char* at) {
  NestingBits out;
  for (int i = 3; i >= 0; --i) {
    const __m128i text = load16(at + 16 * i);
    const __m128i folded = _mm_or_si128(text, _mm_set1_epi8(0x20));  // brackets become braces
    const auto bits = [](__m128i bytes) { return static_cast<std::uint64_t>(bitsOf(bytes)); };
    out.quotes = out.quotes << 16 | bits(_mm_cmpeq_epi8(text, _mm_set1_epi8('"')));
    out.escapes = out.escapes << 16 | bits(_mm_cmpeq_epi8(text, _mm_set1_epi8('\\')));
    out.opens = out.opens << 16 | bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')));
    out.closes = out.closes << 16 | bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
  }
  return out;
}
#else
inline NestingBits nestingBits(const char* at) {
  NestingBits out;
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const char c = at[i];
    if (c == '"') out.quotes |= bit;
    if (c == '\\') out.escapes |= bit;
    if (c == '{' || c == '[') out.opens |= bit;
    if (c == '}' || c == ']') out.closes |= bit;
  }
  return out;
}
#endif

// Every bit becomes the parity of the bits up to it: turns quotes into a mask of the text within strings.
inline std::uint64_t parityUpTo(std::uint64_t bits) {
  bits ^= bits << 1;
  bits ^= bits << 2;
  bits ^= bits << 4;
  bits ^= bits << 8;
  bits ^= bits << 16;
  bits ^= bits << 32;
  return bits;
}

// Whether the `length` (at most 64) bytes at `text` are those of `literal`; 64 bytes of both can be read.
inline bool sameBytes(const char* text, const char* literal, std::size_t length) {
#if defined(__SSE2__)
  const auto equal = [&](std::size_t from) {
    return static_cast<std::uint64_t>(bitsOf(_mm_cmpeq_epi8(load16(text + from), load16(literal + from))));
  };
  std::uint64_t same = equal(0) | equal(16) << 16;
  if (length > 32) same |= equal(32) << 32 | equal(48) << 48;
  return (~same & (~std::uint64_t{0} >> (64 - length))) == 0;
#else
  return std::memcmp(text, literal, length) == 0;
#endif
}

// Eight digits as a number; false when one of the characters is not a digit.
inline bool eightDigits(const char* at, std::uint64_t& out) {
  if constexpr (std::endian::native != std::endian::little) return false;
  std::uint64_t text = 0;
  std::memcpy(&text, at, sizeof text);
  const std::uint64_t digits = text - 0x3030303030303030ULL;
  if ((((text + 0x4646464646464646ULL) | digits) & 0x8080808080808080ULL) != 0) return false;
  const std::uint64_t pairs = digits * 10 + (digits >> 8);  // of the lower byte of every two
  out = (((pairs & 0x000000FF000000FFULL) * (100 + (1000000ULL << 32))) +
         (((pairs >> 16) & 0x000000FF000000FFULL) * (1 + (10000ULL << 32)))) >>
        32;
  return true;
}

// The number of line ends in a piece of text.
inline std::int64_t countLines(const char* at, const char* end) {
  std::int64_t lines = 0;
#if defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi8('\n');
  const __m128i zero = _mm_setzero_si128();
  while (end - at >= 16) {
    // Each byte counts at most 255 times before the sums are taken.
    const char* const pause = end - at > 255 * 16 ? at + 255 * 16 : at + (end - at) / 16 * 16;
    __m128i counts = zero;
    for (; pause - at >= 64; at += 64) {  // each difference is 0 or -1 a byte
      const __m128i first =
          _mm_add_epi8(_mm_cmpeq_epi8(load16(at), wanted), _mm_cmpeq_epi8(load16(at + 16), wanted));
      const __m128i second =
          _mm_add_epi8(_mm_cmpeq_epi8(load16(at + 32), wanted), _mm_cmpeq_epi8(load16(at + 48), wanted));
      counts = _mm_sub_epi8(counts, _mm_add_epi8(first, second));
    }
    for (; at != pause; at += 16) counts = _mm_sub_epi8(counts, _mm_cmpeq_epi8(load16(at), wanted));
    const __m128i sums = _mm_sad_epu8(counts, zero);
    lines += _mm_cvtsi128_si64(sums) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(sums, sums));
  }
#endif
  for (; at != end; ++at) lines += *at == '\n' ? 1 : 0;
  return lines;
}

}  // namespace pitwall::import
