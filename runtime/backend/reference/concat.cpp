#include "runtime/backend/reference/operators.h"
#include "runtime/backend/reference/parts.h"
#include "runtime/backend/support/axis.h"

namespace pitwall::reference {

RunFunction make(const ConcatDesc& desc, Pass pass, Signature& s) {
  const auto count = static_cast<std::size_t>(desc.inputs);
  PartsOfRows parts{axisExtents(s.inputs[0].shape, desc.axis).outer};
  for (std::size_t i = 0; i < count; ++i) parts.parts.push_back(s.inputs[i].shape.elements() / parts.rows);
  return pass == Pass::backward ? separateParts(parts, count) : joinParts(parts);
}

}  // namespace pitwall::reference
