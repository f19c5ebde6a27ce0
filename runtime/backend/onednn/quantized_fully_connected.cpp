// A dense layer on 8-bit data, always row-major N x K. The scales are an operand, as those of a convolution.
#include "runtime/backend/onednn/channel_factors.h"
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {

KernelPtr make(const QuantizedFullyConnectedDesc& d, const Request& r) {
  const Shape& weight = r.inputs[1].shape;
  const Dims out{r.inputs[0].shape.elements() / weight[1], d.dense.units}, data{out[0], weight[1]};
  dnnl::post_ops after;
  after.append_binary(dnnl::algorithm::binary_mul, channelFactors(out));
  appendActivation(after, d.dense.activation);
  dnnl::primitive_attr attributes = userScratchpad();
  attributes.set_post_ops(after);
  const dnnl::inner_product_forward::primitive_desc pd(
      {dnnl::prop_kind::forward_inference, rowMajor(data, typeOf(r.inputs[0].dtype)),
       anyLayout(dimsOf(weight), DataType::s8), rowMajor({d.dense.units}), rowMajor(out, typeOf(d.output))},
      attributes, r.engine);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(1, pd.weights_desc());
  kernel->addStep(dnnl::inner_product_forward(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_SRC, pd.src_desc(), inputAt(0)},
                   {DNNL_ARG_WEIGHTS, pd.weights_desc(), inputAt(1)},
                   {DNNL_ARG_BIAS, pd.bias_desc(), inputAt(3)},
                   {postOperand(0), channelFactors(out), inputAt(2)},
                   {DNNL_ARG_DST, pd.dst_desc(), outputAt(0)}});
  return kernel;
}

}  // namespace pitwall::onednn
