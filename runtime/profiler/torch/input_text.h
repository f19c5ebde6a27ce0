// The inputs of a PyTorch operator as they stand in a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pitwall::torch {

// {{64, 3}, {}, {3}} -> "64x3,,3": inputs that are no tensors have no sizes; those at the end are left out. At most 512
// characters.
std::string shapesText(const std::vector<std::vector<std::int64_t>>& sizes);

// The first that is not empty: the element type of a tensor ("float", "c10::Half"), or what else is passed ("Scalar").
std::string firstType(const std::vector<std::string>& types);

}  // namespace pitwall::torch
