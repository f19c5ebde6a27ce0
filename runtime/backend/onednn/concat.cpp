#include "runtime/backend/onednn/operators.h"
#include "runtime/backend/onednn/parts.h"

namespace pitwall::onednn {

KernelPtr make(const ConcatDesc& desc, const Request& r) {
  const auto count = static_cast<std::size_t>(desc.inputs);
  const bool backward = r.pass == Pass::backward;
  const Shape& whole = backward ? r.inputs[count].shape : r.signature.outputs[0].shape;
  const int axis = desc.axis < 0 ? desc.axis + whole.rank() : desc.axis;
  Parts parts{static_cast<std::size_t>(axis), dimsOf(whole), {}};
  for (std::size_t i = 0; i < count; ++i) parts.parts.push_back(dimsOf(r.inputs[i].shape));
  return backward ? separateParts(r, parts, count) : joinParts(r, parts);
}

}  // namespace pitwall::onednn
