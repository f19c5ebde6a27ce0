// Operators that oneDNN computes element by element. They accept data in any layout and keep it.
#pragma once

#include "runtime/backend/onednn/primitive_kernel.h"

namespace pitwall::onednn {

struct Eltwise {
  dnnl::algorithm algorithm;
  float alpha = 0.0F, beta = 0.0F;
};

// Input 0 to output 0.
KernelPtr eltwiseForward(const Eltwise& operation, const Request& request);

// What the gradient is computed from, and where the inputs of the pass are.
struct EltwiseGradient {
  bool from_output;      // of the forward pass, else from its input; as the algorithm demands
  std::size_t value;     // this input
  std::size_t gradient;  // of the output
};

// The gradient to output 0. Inputs that it does not read may have any layout.
KernelPtr eltwiseBackward(const Eltwise& operation, const EltwiseGradient& places, const Request& request);

}  // namespace pitwall::onednn
