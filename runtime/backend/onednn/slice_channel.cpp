// Squeezed parts are row-major: they have fewer axes than the whole.
#include "runtime/backend/onednn/operators.h"
#include "runtime/backend/onednn/parts.h"

namespace pitwall::onednn {

KernelPtr make(const SliceChannelDesc& desc, const Request& r) {
  const bool backward = r.pass == Pass::backward;
  const Shape& whole = backward ? r.signature.outputs[0].shape : r.inputs[0].shape;
  const auto axis = static_cast<std::size_t>(desc.axis < 0 ? desc.axis + whole.rank() : desc.axis);
  Dims part = dimsOf(whole);
  part[axis] /= desc.outputs;
  const Parts parts{axis, dimsOf(whole), std::vector(static_cast<std::size_t>(desc.outputs), part)};
  if (!desc.squeeze) return backward ? joinParts(r, parts) : separateParts(r, parts, 0);
  std::vector<TensorSpec> plain(r.inputs.begin(), r.inputs.end());
  for (TensorSpec& spec : plain) spec.layout = nullptr;
  const Request request{r.engine, r.options, r.pass, plain, r.like, r.signature};
  return backward ? joinParts(request, parts) : separateParts(request, parts, 0);
}

}  // namespace pitwall::onednn
