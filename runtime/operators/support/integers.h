// What operators on 8-bit numbers share.
#pragma once

#include "runtime/backend/support/signature.h"
#include "runtime/tensor.h"

namespace pitwall {

inline bool isEightBit(DType type) { return type == DType::int8 || type == DType::uint8; }

// Errors: another pass than inference, another number of inputs.
Status expectInference(const ShapeQuery& query, std::size_t inputs);
// Errors: a result can have no numbers of this type.
Status expectOutputType(const ShapeQuery& query, DType output);
// Errors: input `i` is of no 8-bit type.
Status expectEightBit(const ShapeQuery& query, std::size_t i, const char* name);
// Errors: input `i` is of another type or shape.
Status expectFloats(const ShapeQuery& query, std::size_t i, const Shape& shape, const char* name);

}  // namespace pitwall
