// The codes of 2-bit compression: 11 = +threshold, 10 = -threshold, 00 = 0. 16 elements for each 4 bytes; element i is in byte
// i / 4, the first of a byte in its two high bits.
#pragma once

#include <cstdint>
#include <span>

namespace pitwall {

// Bytes for the codes of so many elements: a multiple of 4.
constexpr std::int64_t twoBitBytes(std::int64_t count) { return (count + 15) / 16 * 4; }

// residual += gradient; from +threshold on it is sent and subtracted, from -threshold on sent and added.
constexpr unsigned twoBitCode(float gradient, float& residual, float threshold) {
  residual += gradient;
  if (residual >= threshold) {
    residual -= threshold;
    return 3;
  }
  if (residual <= -threshold) {
    residual += threshold;
    return 2;
  }
  return 0;
}

// The codes of a byte's elements, of which `there` exist.
constexpr std::uint8_t twoBitByte(const float* gradient, float* residual, std::int64_t there,
                                  float threshold) {
  unsigned byte = 0;
  for (std::int64_t i = 0; i < 4 && i < there; ++i)
    byte |= twoBitCode(gradient[i], residual[i], threshold) << (6 - 2 * i);
  return static_cast<std::uint8_t>(byte);
}

constexpr unsigned twoBitCodeAt(const std::uint8_t* codes, std::int64_t i) {
  return static_cast<unsigned>(codes[i / 4]) >> (6 - 2 * (i % 4)) & 3U;
}

// What element i stands for.
constexpr float twoBitValue(const std::uint8_t* codes, std::int64_t i, float threshold) {
  const unsigned code = twoBitCodeAt(codes, i);
  return code == 3 ? threshold : code == 2 ? -threshold : 0;
}

// Of the elements [begin, end), of which the first is the first of a byte.
inline void compressTwoBitPart(const float* gradient, float* residual, std::uint8_t* codes,
                               std::int64_t begin, std::int64_t end, float threshold) {
  for (std::int64_t at = begin; at < end; at += 4)
    codes[at / 4] = twoBitByte(gradient + at, residual + at, end - at, threshold);
}

// output[i] = the sum of what element i of each array of codes stands for, in their order.
inline void sumTwoBitPart(std::span<const void* const> codes, float* output, std::int64_t begin,
                          std::int64_t end, float threshold) {
  const float values[] = {0, 0, -threshold, threshold};  // faster than to choose
  for (std::int64_t i = begin; i < end; ++i) {
    float sum = 0;
    for (const void* const one : codes) sum += values[twoBitCodeAt(static_cast<const std::uint8_t*>(one), i)];
    output[i] = sum;
  }
}

}  // namespace pitwall
