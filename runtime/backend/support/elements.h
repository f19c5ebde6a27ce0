// Elements of arrays of any type, one at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "runtime/tensor.h"

namespace pitwall {

inline double elementAt(const void* data, DType type, std::int64_t i) {
  switch (type) {
    case DType::int8: return static_cast<const std::int8_t*>(data)[i];
    case DType::uint8: return static_cast<const std::uint8_t*>(data)[i];
    case DType::int32: return static_cast<const std::int32_t*>(data)[i];
    default: return static_cast<double>(static_cast<const float*>(data)[i]);
  }
}

// Of integers the nearest, of two the even one, within the type's range.
template <class T>
T nearestOf(double value, double least, double most) {
  return static_cast<T>(std::nearbyint(std::min(std::max(value, least), most)));
}

inline void storeElement(void* data, DType type, std::int64_t i, double value) {
  switch (type) {
    case DType::int8: static_cast<std::int8_t*>(data)[i] = nearestOf<std::int8_t>(value, -128, 127); break;
    case DType::uint8: static_cast<std::uint8_t*>(data)[i] = nearestOf<std::uint8_t>(value, 0, 255); break;
    case DType::int32:
      static_cast<std::int32_t*>(data)[i] = nearestOf<std::int32_t>(value, -2147483648.0, 2147483647.0);
      break;
    default: static_cast<float*>(data)[i] = static_cast<float>(value);
  }
}

}  // namespace pitwall
