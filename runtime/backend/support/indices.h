// Indices into an axis, given as float32.
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/backend/support/labels.h"
#include "runtime/operators/take.h"

namespace pitwall {

// Errors: the first that is not a whole number from 0 to count - 1, naming the operator.
inline Status checkIndices(const char* operator_name, const float* indices, std::int64_t n,
                           std::int64_t count) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (!isClass(indices[i], count)) return badIndex(operator_name, i, indices[i], count);
  }
  return {};
}

// The element of an axis of `count` that an index means; of TakeMode::raise, the index has been checked. Fractions are cut off.
// NaN is element 0, as is an infinite index that wraps.
inline std::int64_t takenElement(TakeMode mode, float index, std::int64_t count) {
  if (mode == TakeMode::raise) return static_cast<std::int64_t>(index);
  if (std::isnan(index)) return 0;
  const double whole = std::trunc(static_cast<double>(index)), n = static_cast<double>(count);
  if (mode == TakeMode::clip) return static_cast<std::int64_t>(std::clamp(whole, 0.0, n - 1));
  const double rest = std::isinf(whole) ? 0 : std::fmod(whole, n);
  return static_cast<std::int64_t>(rest < 0 ? rest + n : rest);
}

}  // namespace pitwall
