// What SoftmaxOutput's Desc and shapes mean.
#pragma once

#include <algorithm>

#include "runtime/backend/support/axis.h"
#include "runtime/backend/support/labels.h"
#include "runtime/operators/softmax_output.h"

namespace pitwall {

// The axis of each softmax; there are outer * inner of them.
inline AxisExtents softmaxExtents(const SoftmaxOutputDesc& d, const Shape& data) {
  if (d.multi_output) return axisExtents(data, 1);
  if (d.preserve_shape) return axisExtents(data, -1);
  return {data[0], data.elements() / data[0], 1};
}

inline bool isIgnored(const SoftmaxOutputDesc& d, float label) {
  return d.use_ignore && label == d.ignore_label;
}

// The factor of the gradient, and a check of the labels.
inline Result<float> gradientScale(const SoftmaxOutputDesc& d, const AxisExtents& e, const float* labels) {
  const std::int64_t count = e.outer * e.inner;
  std::int64_t valid = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!isIgnored(d, labels[i]) && !isClass(labels[i], e.count))
      return badLabel("SoftmaxOutput", i, labels[i], e.count);
    valid += labels[i] != d.ignore_label;
  }
  double scale = static_cast<double>(d.grad_scale);
  if (d.normalization == SoftmaxNormalization::valid)
    return static_cast<float>(scale / static_cast<double>(std::max<std::int64_t>(valid, 1)));
  if (d.normalization == SoftmaxNormalization::batch) scale /= static_cast<double>(e.outer);
  return static_cast<float>(scale / static_cast<double>(e.inner));
}

}  // namespace pitwall
