// The update of weights by Adam (Kingma and Ba, 2014, https://arxiv.org/abs/1412.6980).
#pragma once

#include <span>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"
#include "runtime/operators/sgd.h"

namespace pitwall {

// Any number of weights in one call, each with its own size, in any layout that its arrays share.
//   forward: gradient_0..n-1 -> weight_0..n-1, mean_0..n-1, variance_0..n-1, [copy_0..n-1]   (all but the copies are read and
//   written)
//   g = rescale * gradient + weight_decay * weight; mean = beta1 * mean + (1 - beta1) * g;
//   variance = beta2 * variance + (1 - beta2) * g * g; weight -= rate * mean / (sqrt(variance) + epsilon)
//   as MXNet's adam_update: the correction of the first steps is part of the rate. rate is KernelArgs::rate, rescale
//   KernelArgs::rescale.
struct AdamDesc {
  static const OperatorKind kKind;
  float beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F;
  float weight_decay = 0;
  bool multi_precision = false;  // as of SgdDesc
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const AdamDesc&, const AdamDesc&) = default;
};

namespace op {

// Each weight needs attachGradient(), and zeros at the start for mean and variance.
struct AdamItem {
  NDArray weight, mean, variance;
  NDArray master = {};  // as of SgdItem
};
// All arrays of one call are updated by one operator.
Status adamUpdate(std::span<const AdamItem> items, const AdamDesc& desc, SgdStep step,
                  const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
