// Common code of Convolution and FullyConnected: data, weight and bias are at the same positions in every
// pass.
#pragma once

#include "runtime/operators/call.h"

namespace pitwall {

struct WeightedNames {
  const char* forward;
  const char* backward;
  FlopFunction forward_flop, backward_data_flop, backward_weights_flop;
};

Result<NDArray> weightedOperator(const WeightedNames& names, const NDArray& data,
                                 const op::WeightAndBias& trained, const OperatorKindDesc& desc,
                                 const CallSite& site);

}  // namespace pitwall
