// A reorder between two descriptions of the same axes. It reads data of any layout and writes row-major.
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {

KernelPtr make(const TransposeDesc& desc, const Request& r) {
  const TransposeDesc d = desc.of(r.inputs[0].shape.rank());
  // place[i]: where axis i of the input is in the output.
  std::vector<int> place(static_cast<std::size_t>(d.rank));
  for (std::size_t i = 0; i < place.size(); ++i) {
    const auto axis = static_cast<std::size_t>(d.axes[i]);
    if (r.pass == Pass::backward)
      place[i] = static_cast<int>(axis);
    else
      place[axis] = static_cast<int>(i);
  }
  const Desc from = descOf(r.inputs[0], dimsOf(r.inputs[0].shape));
  const Desc to = rowMajor(dimsOf(r.signature.outputs[0].shape));
  const Desc seen = place.empty() ? from : from.permute_axes(place);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, "reorder");
  kernel->setInput(0, from);
  addReorder(*kernel, r.engine, seen, inputAt(0), to, outputAt(0));
  return kernel;
}

}  // namespace pitwall::onednn
