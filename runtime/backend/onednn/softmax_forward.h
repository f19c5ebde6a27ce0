// Softmax of one input, for the operators that contain it.
#pragma once

#include "runtime/backend/onednn/primitive_kernel.h"

namespace pitwall::onednn {

// Input 0, described by `data`, to output 0 in the same layout.
KernelPtr softmaxForward(const Request& request, const Desc& data, int axis, float temperature);

}  // namespace pitwall::onednn
