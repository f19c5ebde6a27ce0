// A product of 8-bit data with an 8-bit weight matrix.
#pragma once

#include "runtime/operators/fully_connected.h"
#include "runtime/tensor.h"

namespace pitwall {

// out = activation(scale * (sum of products + bias)), rounded and limited as by Rescale; products and sums are exact
// with the weights of Backend::weightCodes().
//   inference: data (int8 or uint8), weight (int8), scale (float32, one of each unit), bias (the same) -> out
// Shapes as of FullyConnected.
struct QuantizedFullyConnectedDesc {
  static const OperatorKind kKind;
  FullyConnectedDesc dense =
      {};  // always with bias; an activation is none, relu or clip, by the numbers of the output
  DType output = DType::float32;  // or int8, uint8, int32
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const QuantizedFullyConnectedDesc&, const QuantizedFullyConnectedDesc&) = default;
};

}  // namespace pitwall
