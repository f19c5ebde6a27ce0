// The update of weights by stochastic gradient descent.
#pragma once

#include <span>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// Any number of weights in one call, each with its own size, in any layout that weight and gradient share.
//   forward: gradient_0..n-1 -> weight_0..n-1, [momentum_0..n-1], [copy_0..n-1]   (weights and momenta are read and written)
//   g = rescale * gradient + weight_decay * weight; with momentum m = momentum * m - rate * g, weight += m;
//   without weight -= rate * g. rate is KernelArgs::rate, rescale KernelArgs::rescale.
//   In multi-precision, which all optimizers have, weights and states are float32, and the copies are the weights in the type of the
//   gradients, as MXNet's mp_sgd_update.
struct SgdDesc {
  static const OperatorKind kKind;
  float momentum = 0;
  float weight_decay = 0;
  bool multi_precision = false;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const SgdDesc&, const SgdDesc&) = default;
};

namespace op {

// g = rescale * gradient + weight_decay * weight; momentum = desc.momentum * momentum - rate * g;
// weight += momentum. Without momentum, weight -= rate * g. Each weight needs attachGradient(); all arrays of
// one call are updated by one operator.
struct SgdItem {
  NDArray weight;
  NDArray momentum;  // zeros at the start; empty when desc.momentum is 0
  NDArray master =
      {};  // in multi-precision: the weight as float32, which the optimizer updates; `weight` is its copy
};
struct SgdStep {
  float rate = 0.01F;
  float rescale = 1;
};
Status sgdUpdate(std::span<const SgdItem> items, const SgdDesc& desc, SgdStep step,
                 const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
