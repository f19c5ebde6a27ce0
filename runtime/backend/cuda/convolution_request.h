// What a pass of Convolution or Deconvolution asks of cuDNN.
#pragma once

#include <cstddef>
#include <optional>

#include "runtime/backend/cuda/convolution_engines.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators.h"

namespace pitwall::cuda {

// A deconvolution is the convolution whose data is the deconvolution's output, in another direction: its result is the
// gradient of the convolution's data.
struct ConvolutionRequest {
  struct Place {
    bool is_output;
    std::size_t index;
    bool operator==(const Place&) const = default;
  };
  using Argument = std::optional<Place>;

  ConvolutionProblem problem;
  FusedActivation activation;  // of a forward convolution
  Argument x, w, y;            // the arrays of the problem
  Argument bias, addend;       // bias: of a channel of y, or of x in a problem of data
  Argument bias_gradient;      // of which the sums of the channels are the second output

  // Sets the layouts in the signature. Precondition: images of 3 or 4 axes.
  static ConvolutionRequest of(const OperatorKindDesc& desc, Pass pass, Signature& signature);

  // The extents of the array of which bias_gradient are the sums.
  const Extents& biasExtents() const { return bias_gradient == x ? problem.x : problem.y; }
};

}  // namespace pitwall::cuda
