// A class label is a float32 that holds an index; what to do when it does not.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "db/result.h"

namespace pitwall {

// Exact: false for fractions and for what is not a number.
inline bool isClass(float label, std::int64_t classes) {
  return label >= 0 && label < static_cast<float>(classes) &&
         static_cast<float>(static_cast<std::int64_t>(label)) == label;
}

inline Failure badLabel(std::int64_t sample, float label, std::int64_t classes) {
  return fail(
      ErrorCode::invalidInput,
      fmt::format("SoftmaxCrossEntropy: the label of sample {} is {}, must be a whole number from 0 to {}",
                  sample, label, classes - 1));
}

}  // namespace pitwall
