// The shapes of an operator's inputs and outputs: checked and inferred once, for every backend.
#pragma once

#include <span>
#include <vector>

#include "runtime/backend.h"

namespace pitwall {

// "Convolution", "FullyConnected", ...
const char* operatorName(const OperatorKindDesc& desc);

struct Signature {
  std::vector<TensorSpec> inputs, outputs;  // all row-major, in the order of the Desc
};

// Row-major signature of one pass. `like` as in Backend::prepare(). A pooling workspace gets one byte: its
// size depends on the backend. Errors: invalidInput naming operator, pass and shapes; unsupported for a pass
// that the operator does not have or an element type other than float32.
Result<Signature> inferSignature(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                                 const TensorSpec* like);

// The extents of a 2-D sliding window over NCHW data, with names for messages.
struct Window {
  std::int64_t batch = 0, channels = 0, height = 0, width = 0;  // of the data
  std::int64_t out_channels = 0, out_height = 0, out_width = 0;
};
Window windowOf(const Shape& data, const Shape& out);

}  // namespace pitwall
