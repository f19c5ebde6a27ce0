// An axis of a row-major array: element (o, i, j) is values[(o * count + i) * inner + j].
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace pitwall {

struct AxisExtents {
  std::int64_t outer = 1;  // product of the extents before the axis
  std::int64_t count = 1;  // of the axis
  std::int64_t inner = 1;  // product of those after it
};

// `axis` counts from the end when negative. Precondition: the shape has it.
inline AxisExtents axisExtents(const Shape& shape, int axis) {
  if (axis < 0) axis += shape.rank();
  AxisExtents e;
  for (int i = 0; i < axis; ++i) e.outer *= shape[i];
  e.count = shape[axis];
  for (int i = axis + 1; i < shape.rank(); ++i) e.inner *= shape[i];
  return e;
}

}  // namespace pitwall
