// Ranges of real numbers that 8-bit ones stand for.
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/tensor.h"

namespace pitwall {

// How many steps an integer type has from 0 to its largest number.
inline double stepsOf(DType type) {
  return type == DType::uint8 ? 255.0 : type == DType::int8 ? 127.0 : 2147483647.0;
}

// As MXNet's operators use it: the range of an int8 or int32 array is symmetrical about zero.
struct NumberRange {
  float minimum = 0, maximum = 0;
  friend bool operator==(const NumberRange&, const NumberRange&) = default;

  NumberRange of(DType type) const {
    if (type == DType::uint8) return *this;
    const float most = std::max(std::abs(minimum), std::abs(maximum));
    return {-most, most};
  }
  // Steps per 1 of a number of this type; 1 of an empty range, in which all is zero.
  double scale(DType type) const {
    const NumberRange r = of(type);
    const double width = type == DType::uint8
                             ? static_cast<double>(r.maximum) - static_cast<double>(r.minimum)
                             : static_cast<double>(r.maximum);
    return width > 0 ? stepsOf(type) / width : 1;
  }
  // The number that 0 stands for.
  double offset(DType type) const { return type == DType::uint8 ? static_cast<double>(minimum) : 0; }
};

}  // namespace pitwall
