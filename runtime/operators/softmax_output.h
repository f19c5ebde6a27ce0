// Softmax whose gradient is that of the classification's loss, as MXNet's networks end in it.
#pragma once

#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// What the gradient is divided by: nothing, the batch, or the number of labels that are not ignore_label.
enum class SoftmaxNormalization : std::uint8_t { none, batch, valid };

// Softmax over all axes but the first; with multi_output over axis 1, with preserve_shape over the last axis. The gradient
// is that of the cross entropy with the labels, whatever the gradient of the output is: (out - label's class) * grad_scale.
// A label is a class index, one for each softmax; or all labels are probabilities, in the shape of the data.
//   inference, forward: data -> out
//   backward:           label, out -> ddata
struct SoftmaxOutputDesc {
  static const OperatorKind kKind;
  float grad_scale = 1;
  SoftmaxNormalization normalization =
      SoftmaxNormalization::none;  // multi_output: then divided by the labels of a sample
  bool multi_output = false;
  bool preserve_shape = false;
  bool use_ignore = false;  // no gradient where the label is ignore_label
  float ignore_label = -1;
  float smooth_alpha = 0;  // this share of each label's class is given to the other classes
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const SoftmaxOutputDesc&, const SoftmaxOutputDesc&) = default;
};

namespace op {

// The probabilities. autograd::backward() of them needs no head gradient's values.
Result<NDArray> softmaxOutput(const NDArray& data, const NDArray& label, const SoftmaxOutputDesc& desc = {},
                              const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
