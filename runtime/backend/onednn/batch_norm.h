// The primitive of a BatchNorm of inference as a step of a kernel.
#pragma once

#include "runtime/backend/onednn/primitive_kernel.h"
#include "runtime/operators/batch_norm.h"

namespace pitwall::onednn {

using BatchNormForward = dnnl::batch_normalization_forward::primitive_desc;

BatchNormForward normOf(const BatchNormDesc& desc, const Request& request, const Desc& data);

struct NormPlaces {
  Place data, gamma, beta, mean, variance, out;
};
void addNorm(PrimitiveKernel& kernel, const BatchNormForward& norm, const NormPlaces& places);

}  // namespace pitwall::onednn
