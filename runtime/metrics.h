// Quality metrics of results. All wait for the arrays they read.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/data.h"
#include "runtime/nn.h"

namespace pitwall::nn {

Result<double> mean(const NDArray& array);

// The number of rows of `scores` (N x C) with their maximum at the label. Errors: invalidInput when the
// counts differ.
Result<std::int64_t> countCorrect(const NDArray& scores, std::span<const float> labels);

// The share of images of one epoch of `batches` that `net` classifies correctly, 0..1; 0 when there are none.
// Starts from the iterator's position and leaves it at the end of the epoch.
Result<double> accuracy(Session& session, Layer& net, data::BatchIterator& batches);

}  // namespace pitwall::nn
