// Convolutions by cuDNN.
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

// The problem of a request; its arrays' layouts are set in the signature. Precondition: images of 3 or 4 axes.
ConvolutionProblem problemOf(const ConvolutionDesc& desc, Pass pass, Signature& signature);

// nullptr where cuDNN has no engine for it. Errors: those of cuDNN and of the GPU.
Result<KernelPtr> makeConvolution(const CudnnContext& context, const ConvolutionDesc& desc, Pass pass,
                                  const Signature& signature);

}  // namespace pitwall::cuda
