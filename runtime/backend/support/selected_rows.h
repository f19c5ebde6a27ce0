// Rows of an axis that indices select: take and Embedding.
#pragma once

#include "runtime/backend/support/axis.h"
#include "runtime/backend/support/indices.h"

namespace pitwall {

// The data is e.outer blocks of e.count rows of e.inner elements; of each block, the output has a row for each index.
struct SelectedRows {
  const char* operator_name;  // for messages
  TakeMode mode;
  AxisExtents e;
  std::int64_t indices;

  // Which inputs they are: data of the forward pass, dout of the backward pass.
  struct Arrays {
    std::size_t data, indices, dout;
  };

  Status check(const float* values) const {
    return mode == TakeMode::raise ? checkIndices(operator_name, values, indices, e.count) : Status{};
  }
  // The row of the data: of all blocks.
  std::int64_t rowOf(std::int64_t block, float index) const {
    return block * e.count + takenElement(mode, index, e.count);
  }
};

}  // namespace pitwall
