// A small seeded generator whose numbers are the same on every platform (those of the standard library's
// distributions are not).
#pragma once

#include <cstdint>

namespace pitwall::data {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // 64 uniform bits: a mixed counter (splitmix64).
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  // Uniform in 0..bound-1; bound > 0. The bias of the remainder is below 2^-32 for bounds below 2^32.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  // Uniform in [low, high).
  float between(float low, float high) {
    return low + (high - low) * static_cast<float>(next() >> 40U) * 0x1p-24F;
  }

 private:
  std::uint64_t state_;
};

}  // namespace pitwall::data
