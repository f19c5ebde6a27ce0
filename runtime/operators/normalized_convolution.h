// Convolution of what a BatchNorm makes of the data.
#pragma once

#include "db/units.h"
#include "runtime/operators/batch_norm.h"
#include "runtime/operators/convolution.h"

namespace pitwall {

// The result of the BatchNorm is in no array: where kPieceBytes hold not all of it, a kernel may compute it, and the
// convolution of it, in pieces of the batch.
//   inference: data, weight, [bias], [addend], gamma, beta, running_mean, running_var -> out
//   backward:  dout, weight, data (not read) -> dgamma, dbeta
// Shapes as of the two. All numbers are float32. The gradients are for data that need none, where gamma is fixed: dgamma is 0, and dbeta
// sums over each channel what the convolution would give as the gradient of its data. Not with a relu between the two, nor with groups.
struct NormalizedConvolutionDesc {
  static const OperatorKind kKind;
  static constexpr Bytes kPieceBytes = Bytes{4} << 20;
  BatchNormDesc norm = {};
  ConvolutionDesc convolution = {};
  // The inputs of the BatchNorm begin here.
  std::size_t firstOfNorm() const {
    return std::size_t{2} + (convolution.bias ? 1 : 0) + (convolution.adds ? 1 : 0);
  }
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const NormalizedConvolutionDesc&, const NormalizedConvolutionDesc&) = default;

 private:
  Result<Signature> inferBackward(const ShapeQuery& query) const;
};

}  // namespace pitwall
