// Local response normalisation.
#pragma once

#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// Local response normalisation across channels, NCHW: out = data * (knorm + alpha / nsize * sum)^-beta, where
// sum is that of the squares of the nsize (odd) channels around the element's.
//   inference: data -> out
//   forward:   data -> out, workspace (as Pooling's)
//   backward:  data, dout, workspace -> ddata
struct LrnDesc {
  static const OperatorKind kKind;
  float alpha = 1e-4F, beta = 0.75F, knorm = 2;
  std::int64_t nsize = 5;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const LrnDesc&, const LrnDesc&) = default;
};

namespace op {

// Local response normalisation across the channels of N x C x H x W data.
Result<NDArray> lrn(const NDArray& data, const LrnDesc& desc, const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
