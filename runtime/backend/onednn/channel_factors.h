// Numbers of each channel, which a primitive multiplies its output with or adds to it.
#pragma once

#include "runtime/backend/onednn/primitive_kernel.h"
#include "runtime/operators/activation.h"

namespace pitwall::onednn {

// Row-major float32, in the axes of the output: 1 x C x 1 x 1.
inline Desc channelFactors(const Dims& output) {
  Dims dims(output.size(), 1);
  dims[1] = output[1];
  return rowMajor(dims);
}

inline int postOperand(int number) { return DNNL_ARG_ATTR_MULTIPLE_POST_OP(number) | DNNL_ARG_SRC_1; }

// relu, clip, or nothing.
inline void appendActivation(dnnl::post_ops& after, const FusedActivation& activation) {
  using Type = FusedActivation::Type;
  if (activation.type == Type::relu) after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  if (activation.type == Type::clip)
    after.append_eltwise(1, dnnl::algorithm::eltwise_clip, activation.minimum, activation.maximum);
}

}  // namespace pitwall::onednn
