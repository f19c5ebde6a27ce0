// The update of weights by Nesterov's accelerated gradient.
#pragma once

#include <span>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"
#include "runtime/operators/sgd.h"

namespace pitwall {

// Any number of weights in one call, each with its own size, in any layout that its arrays share.
//   forward: gradient_0..n-1 -> weight_0..n-1, momentum_0..n-1, [copy_0..n-1]   (weights and momenta are read and written)
//   g = rescale * gradient + weight_decay * weight; m = momentum * m - rate * g; weight += momentum * m - rate * g
//   as MXNet's nag_mom_update. rate is KernelArgs::rate, rescale KernelArgs::rescale.
struct NagDesc {
  static const OperatorKind kKind;
  float momentum = 0.9F;
  float weight_decay = 0;
  bool multi_precision = false;  // as of SgdDesc
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const NagDesc&, const NagDesc&) = default;
};

namespace op {

// Each weight needs attachGradient() and a momentum, zeros at the start; all arrays of one call are updated by one operator.
Status nagUpdate(std::span<const SgdItem> items, const NagDesc& desc, SgdStep step,
                 const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
