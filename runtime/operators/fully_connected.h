// A product with a weight matrix.
#pragma once

#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"
#include "runtime/operators/activation.h"

namespace pitwall {

// Data of rank >= 2 is flattened after the first axis: N x K; weight M x K; bias M; out N x M. Without flatten K is the
// last axis alone, and the output has the others of the data: N x ... x M.
//   passes as Convolution
struct FullyConnectedDesc {
  static const OperatorKind kKind;
  std::int64_t units = 1;
  bool bias = true;
  bool flatten = true;
  FusedActivation activation = {};  // of the output; for inference only
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const FullyConnectedDesc&, const FullyConnectedDesc&) = default;
};

namespace op {

// data N x ..., flattened after the first axis; weight M x K, bias M -> N x M.
Result<NDArray> fullyConnected(const NDArray& data, const WeightAndBias& trained,
                               const FullyConnectedDesc& desc, const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
