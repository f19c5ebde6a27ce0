// Has a backend compute with arrays of 16 bits where a test gives it float32: inputs are rounded before, outputs converted after.
// PITWALL_TEST_DTYPE=float16 or bfloat16 asks for it.
#pragma once

#include <memory>
#include <optional>

#include "runtime/backend.h"

namespace pitwall::test {

// What is asked for; unset: float32.
std::optional<DType> testedShortType();

// `value` as an array of that type would hold it.
float roundedToTestedType(float value);

// The error of one rounding to that type, relative to the largest number, with as much for what is computed from rounded results.
double toleranceOfTestedType();

std::unique_ptr<Backend> makeShortBackend(std::unique_ptr<Backend> backend, DType type);

}  // namespace pitwall::test
