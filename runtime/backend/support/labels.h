// Checks class labels: float32 numbers that hold an index.
#pragma once

#include <cstdint>

#include "db/result.h"

namespace pitwall {

// Exact: false for fractions and for NaN.
inline bool isClass(float label, std::int64_t classes) {
  return label >= 0 && label < static_cast<float>(classes) &&
         static_cast<float>(static_cast<std::int64_t>(label)) == label;
}

// Errors of kernels that found one; in signature.cpp.
Failure badLabel(const char* operator_name, std::int64_t sample, float label, std::int64_t classes);
Failure badIndex(const char* operator_name, std::int64_t place, float index, std::int64_t count);

}  // namespace pitwall
