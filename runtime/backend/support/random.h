// A counter-based random number: the n-th draw of a seed, computable independently of the others. So the
// draws depend neither on the number of threads nor on their order.
#pragma once

#include <cstdint>

namespace pitwall {

// 32 well-mixed bits (two rounds of a 64-bit finaliser over seed and counter).
constexpr std::uint32_t randomBits(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = counter * 0x9E3779B97F4A7C15ULL + (seed ^ (seed >> 32)) * 0xD1342543DE82EF95ULL;
  z = (z ^ (z >> 32)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 29)) * 0x94D049BB133111EBULL;
  return static_cast<std::uint32_t>(z >> 32);
}

// Draws below this keep the element: a share of 1 - rate of all draws.
inline std::uint64_t keepThreshold(float rate) {
  return static_cast<std::uint64_t>((1.0 - static_cast<double>(rate)) * 4294967296.0);
}

}  // namespace pitwall
