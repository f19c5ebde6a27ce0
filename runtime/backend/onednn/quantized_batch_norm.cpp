// A product with the scales, to which the shifts are added: oneDNN's batch normalisation of 8-bit data has no uint8. The data keeps its
// layout.
#include "runtime/backend/onednn/channel_factors.h"
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {

KernelPtr make(const QuantizedBatchNormDesc& d, const Request& r) {
  const Desc data = descOf(r.inputs[0], dimsOf(r.inputs[0].shape)), out = withType(data, d.output);
  const Desc factors = channelFactors(data.dims());
  dnnl::post_ops after;
  after.append_binary(dnnl::algorithm::binary_add, factors);
  if (d.relu) after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  dnnl::primitive_attr attributes = userScratchpad();
  attributes.set_post_ops(after);
  const dnnl::binary::primitive_desc pd({dnnl::algorithm::binary_mul, data, factors, out}, attributes,
                                        r.engine);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, data);
  kernel->setOutput(0, out);
  kernel->addStep(dnnl::binary(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_SRC_0, data, inputAt(0)},
                   {DNNL_ARG_SRC_1, factors, inputAt(1)},
                   {postOperand(0), factors, inputAt(2)},
                   {DNNL_ARG_DST, out, outputAt(0)}});
  return kernel;
}

}  // namespace pitwall::onednn
