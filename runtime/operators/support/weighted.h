// Common code of Convolution and FullyConnected: data, weight and bias are at the same positions in every
// pass.
#pragma once

#include "runtime/array/call.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {

struct WeightedNames {
  const char* forward;
  const char* backward;
  FlopFunction forward_flop, backward_data_flop, backward_weights_flop;
};

// The shape of the data in any pass, with a check of the number of inputs.
Result<Shape> weightedData(const ShapeQuery& query, bool bias);

// The shapes that follow from that of the data and the Desc.
struct WeightedShapes {
  Shape data, out, weight;
  std::int64_t bias = 0;  // elements; 0 = none
};
Result<Signature> weightedSignature(const ShapeQuery& query, const WeightedShapes& shapes);

Result<NDArray> weightedOperator(const WeightedNames& names, const NDArray& data,
                                 const op::WeightAndBias& trained, const OperatorKindDesc& desc,
                                 const CallSite& site);

}  // namespace pitwall
