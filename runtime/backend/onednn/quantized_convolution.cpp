// Convolution of 8-bit data. The scale of each channel is an operand, so that a kernel does not depend on the weights; oneDNN multiplies
// with it before it adds what the output holds and applies the activation.
#include "runtime/backend/onednn/channel_factors.h"
#include "runtime/backend/onednn/convolution_problem.h"

namespace pitwall::onednn {
namespace {

enum QuantizedInput : std::size_t { kQuantizedData, kQuantizedWeight, kScales, kShiftedBias, kAddend };

ConvolutionForward quantizedForwardOf(const QuantizedConvolutionDesc& d, const Request& r,
                                      const ConvolutionProblem& p) {
  dnnl::post_ops after;
  after.append_binary(dnnl::algorithm::binary_mul, channelFactors(p.out));
  if (d.convolution.adds) after.append_sum(d.addend_scale, typeOf(r.inputs[kAddend].dtype));
  appendActivation(after, d.convolution.activation);
  dnnl::primitive_attr attributes = userScratchpad();
  attributes.set_post_ops(after);
  return {{dnnl::prop_kind::forward_inference, kDirect,
           anyLayout(p.data, typeOf(r.inputs[kQuantizedData].dtype)), anyLayout(p.weight, DataType::s8),
           p.biasDesc(), anyLayout(p.out, typeOf(d.output)), p.strides, p.dilates, p.pad_low, p.pad_high},
          attributes,
          r.engine};
}

}  // namespace

KernelPtr make(const QuantizedConvolutionDesc& d, const Request& r) {
  const ConvolutionProblem p = problemOf(d.convolution, r.inputs[kQuantizedData].shape,
                                         r.inputs[kQuantizedWeight].shape, r.signature.outputs[0].shape);
  const ConvolutionForward pd = quantizedForwardOf(d, r, p);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(kQuantizedData, pd.src_desc());
  kernel->setInput(kQuantizedWeight, pd.weights_desc());
  kernel->setOutput(0, pd.dst_desc());
  if (d.convolution.adds) {
    // The primitive adds to what its output holds, which may be numbers of another sign.
    const Desc addend = withType(pd.dst_desc(), r.inputs[kAddend].dtype);
    kernel->setInput(kAddend, addend);
    addReorder(*kernel, r.engine, addend, inputAt(kAddend), addend, outputAt(0));
    kernel->skipInPlace(kAddend, 0);
  }
  kernel->addStep(dnnl::convolution_forward(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_SRC, pd.src_desc(), inputAt(kQuantizedData)},
                   {DNNL_ARG_WEIGHTS, pd.weights_desc(), inputAt(kQuantizedWeight)},
                   {DNNL_ARG_BIAS, pd.bias_desc(), inputAt(kShiftedBias)},
                   {postOperand(0), channelFactors(p.out), inputAt(kScales)},
                   {DNNL_ARG_DST, pd.dst_desc(), outputAt(0)}});
  return kernel;
}

}  // namespace pitwall::onednn
