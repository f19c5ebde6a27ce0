// Normalisation of each channel over the batch.
#pragma once

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// Over axis 1 of NCHW, NCW or NC data.
//   inference: data, gamma, beta, running_mean, running_var -> out
//   forward:   data, gamma, beta -> out, saved_mean, saved_var, running_mean, running_var
//              (running_* are read and written: r = momentum * r + (1 - momentum) * batch)
//   backward:  data, gamma, saved_mean, saved_var, dout, [beta] -> ddata, dgamma, dbeta   (beta: with relu)
// Data of 16 bits has float32 beside it in all that has an element for each channel.
struct BatchNormDesc {
  static const OperatorKind kKind;
  float epsilon = 1e-5F;
  float momentum = 0.9F;
  bool fix_gamma = false;  // gamma is 1, whatever the array holds, and its gradient 0
  bool use_global_stats =
      false;          // training too normalises with the running statistics, and leaves them as they are
  bool relu = false;  // of the output
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const BatchNormDesc&, const BatchNormDesc&) = default;
};

namespace op {

// One array each of C elements. When recording, batch statistics are used and the running ones updated in
// place.
struct BatchNormState {
  NDArray gamma, beta, running_mean, running_variance;
};
Result<NDArray> batchNorm(const NDArray& data, const BatchNormState& state, const BatchNormDesc& desc,
                          const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
