// Arrays beside each other along an axis. All take the layout of a blocked array, if no part but the last has padding on the
// axis: then the parts are copied as they are. Else all arrays are row-major.
#pragma once

#include "runtime/backend/onednn/primitive_kernel.h"

namespace pitwall::onednn {

// The extents of the whole and of its parts.
struct Parts {
  std::size_t axis;
  Dims whole;
  std::vector<Dims> parts;
};

// The inputs from the first on, as many as there are parts, to output 0.
KernelPtr joinParts(const Request& request, const Parts& parts);

// Input `whole` to the outputs. Other inputs are not read.
KernelPtr separateParts(const Request& request, const Parts& parts, std::size_t whole);

}  // namespace pitwall::onednn
