// 8-bit numbers and their range, as the kernels of Quantize and Requantize write them.
#pragma once

#include <limits>

#include "runtime/backend.h"
#include "runtime/backend/support/elements.h"
#include "runtime/number_range.h"

namespace pitwall {

// Of real(0) to real(n - 1); NaN has no part in it.
template <class Real>
NumberRange rangeOf(std::int64_t n, Real real) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = real(i);
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return least <= most ? NumberRange{static_cast<float>(least), static_cast<float>(most)} : NumberRange{};
}

struct QuantizedOutput {
  void* data;
  DType type;
  NumberRange range;  // as of(type) gives it
};

// Of real(begin) to real(end - 1).
template <class Real>
void storeQuantized(const QuantizedOutput& to, std::int64_t begin, std::int64_t end, Real real) {
  const double scale = to.range.scale(to.type), offset = to.range.offset(to.type);
  // int8 has no -128: the numbers of both signs are as many.
  const double least = to.type == DType::uint8 ? 0 : -127, most = stepsOf(to.type);
  for (std::int64_t i = begin; i < end; ++i)
    storeElement(to.data, to.type, i, std::min(std::max((real(i) - offset) * scale, least), most));
}

// The second and third output.
inline void storeRange(const KernelArgs& args, const NumberRange& range) {
  static_cast<float*>(args.outputs[1])[0] = range.minimum;
  static_cast<float*>(args.outputs[2])[0] = range.maximum;
}

}  // namespace pitwall
