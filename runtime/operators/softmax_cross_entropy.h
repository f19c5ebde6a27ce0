// The loss of a classification.
#pragma once

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// data N x C, label N (class index as float32), loss N (per sample, natural log).
//   inference, forward: data, label -> loss, probability
//   backward:           probability, label, dloss -> ddata
struct SoftmaxCrossEntropyDesc {
  static const OperatorKind kKind;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const SoftmaxCrossEntropyDesc&, const SoftmaxCrossEntropyDesc&) = default;
};

namespace op {

// data N x C, label N (class index) -> loss of each sample, N (natural logarithm).
Result<NDArray> softmaxCrossEntropy(const NDArray& data, const NDArray& label, const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
