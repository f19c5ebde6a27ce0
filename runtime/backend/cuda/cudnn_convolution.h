// Convolutions and their transposes by cuDNN.
#pragma once

#include "runtime/backend/cuda/convolution_engines.h"
#include "runtime/backend/cuda/options.h"
#include "runtime/backend/support/kernel_choices.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators.h"

namespace pitwall::cuda {

// What every convolution of a process uses.
struct CudnnContext {
  const CudnnApi& api;
  Descriptor device;
  const CudaOptions& options;
  KernelChoices& choices;
};

// nullptr where cuDNN has no engine for it. Errors: those of cuDNN and of the GPU. Precondition: Convolution or Deconvolution.
Result<KernelPtr> makeConvolution(const CudnnContext& context, const OperatorKindDesc& desc, Pass pass,
                                  const Signature& signature);

}  // namespace pitwall::cuda
