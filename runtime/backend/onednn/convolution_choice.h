// Which of oneDNN's implementations of a convolution a kernel uses.
//
// The library's own first choice is often one on data with the channels last, and never Winograd's algorithm, which computes
// 3 x 3 windows with fewer multiplications on blocked data. Which is faster depends on the processor and the shape, so they are
// measured side by side.
#pragma once

#include "runtime/backend/onednn/convolution_problem.h"

namespace pitwall::onednn {

struct ChosenConvolution {
  ConvolutionForward primitive;
  int threads = 0;     // at most; 0 = as many as other operators
  double seconds = 0;  // that a run takes, as measured; 0 = not measured
};

// As d.implementation asks; times come from r.choices or are measured now. The library's first choice where r.choices is
// nullptr. Precondition: a forward pass or inference.
ChosenConvolution chooseConvolution(const ConvolutionDesc& d, const Request& r, const ConvolutionProblem& p);

}  // namespace pitwall::onednn
