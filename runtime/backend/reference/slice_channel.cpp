#include "runtime/backend/reference/operators.h"
#include "runtime/backend/reference/parts.h"
#include "runtime/backend/support/axis.h"

namespace pitwall::reference {

RunFunction make(const SliceChannelDesc& desc, Pass pass, Signature& s) {
  const bool backward = pass == Pass::backward;
  const AxisExtents e = axisExtents(backward ? s.outputs[0].shape : s.inputs[0].shape, desc.axis);
  const std::vector parts(static_cast<std::size_t>(desc.outputs), e.count / desc.outputs * e.inner);
  return backward ? joinParts({e.outer, parts}) : separateParts({e.outer, parts}, 0);
}

}  // namespace pitwall::reference
