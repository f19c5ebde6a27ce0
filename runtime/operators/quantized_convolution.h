// Convolution of 8-bit images with 8-bit weights.
#pragma once

#include "runtime/operators/convolution.h"
#include "runtime/tensor.h"

namespace pitwall {

// out = activation(scale * (sum of products + bias) + addend_scale * addend), rounded and limited as by Rescale; products and sums are exact
// with the weights of Backend::weightCodes().
//   inference: data (int8 or uint8), weight (int8), scale (float32, one of each channel), bias (the same), [addend] -> out
// Shapes as of Convolution. The addend has the output's shape, and is 8-bit where the output is, else float32; where it is at the output's
// address, nothing is copied.
struct QuantizedConvolutionDesc {
  static const OperatorKind kKind;
  ConvolutionDesc convolution =
      {};  // always with bias; an activation is none, relu or clip, by the numbers of the output
  float addend_scale = 1;
  DType output = DType::float32;  // or int8, uint8
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const QuantizedConvolutionDesc&, const QuantizedConvolutionDesc&) = default;
};

}  // namespace pitwall
