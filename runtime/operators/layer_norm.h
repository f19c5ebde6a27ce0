// Normalisation along the last axis.
#pragma once

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// Each row of C elements along the last axis: (data - mean) / sqrt(variance + epsilon) * gamma + beta, where mean and
// variance are the row's. gamma and beta have C elements, the statistics one for each row: the data's shape without its
// last axis.
//   inference: data, gamma, beta -> out
//   forward:   data, gamma, beta -> out, saved_mean, saved_var
//   backward:  data, gamma, saved_mean, saved_var, dout -> ddata, dgamma, dbeta
struct LayerNormDesc {
  static const OperatorKind kKind;
  float epsilon = 1e-5F;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const LayerNormDesc&, const LayerNormDesc&) = default;
};

namespace op {

Result<NDArray> layerNorm(const NDArray& data, const NDArray& gamma, const NDArray& beta,
                          const LayerNormDesc& desc = {}, const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
