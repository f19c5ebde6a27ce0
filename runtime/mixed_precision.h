// Networks that compute with numbers of 16 bits.
//
//   Symbol network = PITWALL_TRY(castNetwork(PITWALL_TRY(models::make("resnet-50")), {.type = DType::float16, .loss_scale = 128}));
//   const InferredTypes types = PITWALL_TRY(network.inferTypes({{"data", DType::float32}}));   // of the arrays to bind
//   optimizer.useMultiPrecision(true);
//   optimizer.setLossScale(128);
//
// Gradients of less than 6e-8 are 0 in float16: a factor of the loss keeps small ones, and the optimizer divides by it. bfloat16 has the
// exponents of float32 and needs none.
#pragma once

#include <string>
#include <vector>

#include "runtime/symbol.h"
#include "runtime/tensor.h"

namespace pitwall {

struct MixedPrecision {
  DType type = DType::float16;                 // or bfloat16
  float loss_scale = 1;                        // factor of the grad_scale of each SoftmaxOutput
  std::vector<std::string> inputs = {"data"};  // given as float32, converted to `type`
};

// `network` with a Cast after each of the inputs, and a Cast back to float32 before each softmax or loss, and after each other output.
// Parameters get the type that follows; statistics of BatchNorm stay float32. As MXNet's examples with --dtype. Errors: notFound for an
// input that is no argument; invalidInput for another type and for a loss scale that is not positive.
Result<Symbol> castNetwork(const Symbol& network, const MixedPrecision& options);

}  // namespace pitwall
