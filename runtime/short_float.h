// Numbers of 16 bits: IEEE 754's half precision, and bfloat16, which is the upper half of a float32.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "runtime/tensor.h"

namespace pitwall {

// Storage only: arithmetic is in float32.
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

inline float toFloat(float value) { return value; }

inline float toFloat(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

inline float toFloat(Float16 value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16,
                      magnitude = value.bits & 0x7FFFU;
  if (magnitude >= 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U | (magnitude & 0x3FFU) << 13);
  // A float32 with the same digits, whose exponent is 112 less; the product is exact, also of subnormal numbers.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled));
}

// The nearest, of two the even one. What is too large is infinite; NaN stays NaN.
template <class E>
E fromFloat(float value) {
  if constexpr (std::is_same_v<E, float>) {
    return value;
  } else {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), magnitude = bits & 0x7FFFFFFFU;
    const auto sign = static_cast<std::uint16_t>((bits & 0x80000000U) >> 16);
    if constexpr (std::is_same_v<E, BFloat16>) {
      if (magnitude > 0x7F800000U) return {static_cast<std::uint16_t>(bits >> 16 | 0x40U)};
      return {static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16)};
    } else {
      const auto with_sign = [sign](std::uint32_t rest) {
        return E{static_cast<std::uint16_t>(sign | rest)};
      };
      if (magnitude > 0x7F800000U) return with_sign(0x7E00U);
      if (magnitude >= 0x477FF000U) return with_sign(0x7C00U);  // 65520 or more: infinity is nearest
      if (magnitude >= 0x38800000U)                             // 2^-14: normal
        return with_sign((magnitude - 0x38000000U + 0xFFFU + (magnitude >> 13 & 1U)) >> 13);
      // The sum's last digits are those of the result: float32 rounds to the nearest.
      const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
      return with_sign(std::bit_cast<std::uint32_t>(aligned) - 0x3F000000U);
    }
  }
}

inline bool is16Bits(DType type) { return type == DType::float16 || type == DType::bfloat16; }
// Whether operators compute with its values: not those of integers.
inline bool isReal(DType type) { return type == DType::float32 || is16Bits(type); }

// action(E{}) for the element type E of a real DType.
template <class F>
auto withElementType(DType type, F action) {
  switch (type) {
    case DType::float16: return action(Float16{});
    case DType::bfloat16: return action(BFloat16{});
    default: return action(float{});
  }
}

}  // namespace pitwall
