#include "runtime/backend/cpu_kernels/selected_rows.h"

namespace pitwall::cpu_kernels {

RunFunction make(const TakeDesc& desc, const Request& r, Signature& s) {
  if (r.pass == Pass::backward) s.inputs[0].layout = r.inputs[0].layout;  // not read
  const AxisExtents extents = axisExtents(s.inputs[0].shape, desc.axis);
  return selectRows({"take", desc.mode, extents, s.inputs[1].shape.elements()},
                    {.data = 0, .indices = 1, .dout = 2}, r);
}

}  // namespace pitwall::cpu_kernels
