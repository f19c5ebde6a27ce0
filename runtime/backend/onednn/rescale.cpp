// Data of real numbers becomes 8-bit with the channels last, as the convolutions on it want it; other data keeps its layout.
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {

KernelPtr make(const RescaleDesc& desc, const Request& r) {
  const Desc from = descOf(r.inputs[0], dimsOf(r.inputs[0].shape));
  const bool is_image = from.dims().size() == 4;
  const bool quantizes = r.inputs[0].dtype == DType::float32 && desc.output != DType::float32;
  const Desc to = quantizes && is_image
                      ? Desc(from.dims(), typeOf(desc.output), dnnl::memory::format_tag::acdb)
                      : withType(from, desc.output);
  dnnl::primitive_attr attributes = userScratchpad();
  attributes.set_output_scales(0, {desc.scale});
  const dnnl::reorder::primitive_desc pd(r.engine, from, r.engine, to, attributes);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, from);
  kernel->setOutput(0, to);
  kernel->addStep(dnnl::reorder(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_FROM, from, inputAt(0)}, {DNNL_ARG_TO, to, outputAt(0)}});
  return kernel;
}

}  // namespace pitwall::onednn
