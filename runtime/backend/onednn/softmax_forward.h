// Softmax of one input, for the operators that contain it.
#pragma once

#include "runtime/backend/onednn/primitive_kernel.h"
#include "runtime/operators/softmax.h"

namespace pitwall::onednn {

// Input 0, described by `data`, to output 0 in the same layout. The axis of `desc` is one of those of `data`, from 0.
KernelPtr softmaxForward(const Request& request, const Desc& data, const SoftmaxDesc& desc);

}  // namespace pitwall::onednn
