// Checks class labels: float32 numbers that hold an index.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "db/result.h"

namespace pitwall {

// Exact: false for fractions and for NaN.
inline bool isClass(float label, std::int64_t classes) {
  return label >= 0 && label < static_cast<float>(classes) &&
         static_cast<float>(static_cast<std::int64_t>(label)) == label;
}

inline Failure badLabel(const char* operator_name, std::int64_t sample, float label, std::int64_t classes) {
  return fail(ErrorCode::invalidInput,
              fmt::format("{}: the label of sample {} is {}, must be a whole number from 0 to {}",
                          operator_name, sample, label, classes - 1));
}

}  // namespace pitwall
