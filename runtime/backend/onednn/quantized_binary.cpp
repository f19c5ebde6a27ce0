// Sums and products of 8-bit arrays in one layout, that of lhs; what cpu_kernels/ leaves.
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {

KernelPtr make(const QuantizedBinaryDesc& d, const Request& r) {
  const Desc lhs = descOf(r.inputs[0], dimsOf(r.inputs[0].shape));
  const Desc rhs = withType(lhs, r.inputs[1].dtype), out = withType(lhs, d.output);
  dnnl::primitive_attr attributes = userScratchpad();
  attributes.set_scales(DNNL_ARG_SRC_0, 0, {d.lhs_scale});
  attributes.set_scales(DNNL_ARG_SRC_1, 0, {d.rhs_scale});
  const auto algorithm =
      d.type == BinaryType::add ? dnnl::algorithm::binary_add : dnnl::algorithm::binary_mul;
  const dnnl::binary::primitive_desc pd({algorithm, lhs, rhs, out}, attributes, r.engine);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, lhs);
  kernel->setInput(1, rhs);
  kernel->setOutput(0, out);
  kernel->addStep(dnnl::binary(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_SRC_0, lhs, inputAt(0)},
                   {DNNL_ARG_SRC_1, rhs, inputAt(1)},
                   {DNNL_ARG_DST, out, outputAt(0)}});
  return kernel;
}

}  // namespace pitwall::onednn
