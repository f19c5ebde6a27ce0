// Common code of Convolution and FullyConnected: data, weight and bias are at the same positions in every
// pass.
#pragma once

#include "runtime/array/call.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/activation.h"

namespace pitwall {

struct WeightedNames {
  const char* forward;
  const char* backward;
  FlopFunction forward_flop, backward_data_flop, backward_weights_flop;
};

// What the forward pass computes in addition.
struct FusedParts {
  bool adds = false;  // a further input of the output's shape
  FusedActivation activation = {};
};

// The shape of the data in any pass, with a check of the number of inputs. What is fused is for inference only.
Result<Shape> weightedData(const ShapeQuery& query, bool bias, const FusedParts& fused = {});

// Of the bias, the addend and the activation of one forward pass.
Flop fusedFlop(const Shape& out, bool bias, const FusedParts& fused);

// The shapes that follow from that of the data and the Desc.
struct WeightedShapes {
  Shape data, out, weight;
  std::int64_t bias = 0;  // elements; 0 = none
  bool adds = false;
};
Result<Signature> weightedSignature(const ShapeQuery& query, const WeightedShapes& shapes);

Result<NDArray> weightedOperator(const WeightedNames& names, const NDArray& data,
                                 const op::WeightAndBias& trained, const OperatorKindDesc& desc,
                                 const CallSite& site);

}  // namespace pitwall
