#include "runtime/backend/reference/operators.h"
#include "runtime/backend/reference/selected_rows.h"

namespace pitwall::reference {

RunFunction make(const TakeDesc& desc, Pass pass, Signature& s) {
  const AxisExtents extents = axisExtents(s.inputs[0].shape, desc.axis);
  return selectRows({"take", desc.mode, extents, s.inputs[1].shape.elements()},
                    {.data = 0, .indices = 1, .dout = 2}, pass);
}

}  // namespace pitwall::reference
