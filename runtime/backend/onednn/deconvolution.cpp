// Deconvolution is a convolution whose data and output are exchanged: forward is its gradient of the data, the gradient of the
// data its forward pass. The weight has the same memory in both. The bias is added, and its gradient summed, in further steps.
#include "runtime/backend/onednn/convolution_problem.h"

namespace pitwall::onednn {
namespace {

// The convolution from `out` to `data`.
ConvolutionProblem exchanged(const DeconvolutionDesc& d, const Shape& data, const Shape& weight,
                             const Shape& out) {
  const ConvolutionDesc convolution{.kernel = d.kernel,
                                    .stride = d.stride,
                                    .pad = d.pad,
                                    .dilate = d.dilate,
                                    .channels = data[1],
                                    .groups = d.groups,
                                    .bias = false};
  return problemOf(convolution, out, weight, data);
}

Desc perChannel(const Shape& out) { return rowMajor({1, out[1], 1, 1}); }

void addBias(PrimitiveKernel& kernel, const Request& r, const Desc& out) {
  const Desc bias = perChannel(r.signature.outputs[0].shape);
  const dnnl::binary::primitive_desc pd({dnnl::algorithm::binary_add, out, bias, out}, userScratchpad(),
                                        r.engine);
  kernel.addStep(dnnl::binary(pd), pd.scratchpad_desc(),
                 {{DNNL_ARG_SRC_0, out, outputAt(0)},
                  {DNNL_ARG_SRC_1, bias, inputAt(2)},
                  {DNNL_ARG_DST, out, outputAt(0)}});
}

KernelPtr forward(const DeconvolutionDesc& d, const Request& r) {
  const ConvolutionProblem p =
      exchanged(d, r.inputs[0].shape, r.inputs[1].shape, r.signature.outputs[0].shape);
  const auto kernel = dataGradient(r, p, descOf(r.inputs[1], p.weight));
  if (d.bias) addBias(*kernel, r, descOf(kernel->outputs()[0], p.data));
  return kernel;
}

KernelPtr backwardData(const DeconvolutionDesc& d, const Request& r) {
  const ConvolutionProblem p = exchanged(d, r.like->shape, r.inputs[1].shape, r.inputs[0].shape);
  const ConvolutionForward pd = forwardOf(r, p, dnnl::prop_kind::forward_training);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, pd.src_desc());
  kernel->setInput(1, pd.weights_desc());
  kernel->setOutput(0, pd.dst_desc());
  kernel->addStep(dnnl::convolution_forward(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_SRC, pd.src_desc(), inputAt(0)},
                   {DNNL_ARG_WEIGHTS, pd.weights_desc(), inputAt(1)},
                   {DNNL_ARG_DST, pd.dst_desc(), outputAt(0)}});
  return kernel;
}

void sumBias(PrimitiveKernel& kernel, const Request& r, const Desc& dout) {
  const Desc bias = perChannel(r.inputs[1].shape);
  if (dout.dims() == bias.dims()) {  // one element a channel: oneDNN has no sum of it
    addReorder(kernel, r.engine, dout, inputAt(1), bias, outputAt(1));
    return;
  }
  const dnnl::reduction::primitive_desc pd({dnnl::algorithm::reduction_sum, dout, bias, 0, 0},
                                           userScratchpad(), r.engine);
  kernel.addStep(dnnl::reduction(pd), pd.scratchpad_desc(),
                 {{DNNL_ARG_SRC, dout, inputAt(1)}, {DNNL_ARG_DST, bias, outputAt(1)}});
}

KernelPtr backwardWeights(const DeconvolutionDesc& d, const Request& r) {
  const ConvolutionProblem p =
      exchanged(d, r.inputs[0].shape, r.signature.outputs[0].shape, r.inputs[1].shape);
  const ConvolutionForward hint = forwardOf(r, p, dnnl::prop_kind::forward_training);
  const Desc wish = r.like != nullptr ? descOf(*r.like, p.weight) : hint.weights_desc();
  const ConvolutionBackwardWeights pd =
      preferGivenWeight(p.weight, wish, [&](const Desc& weight, bool allow_failure) {
        return backwardWeightsOf(r, p, hint, weight, allow_failure);
      });
  const auto kernel = weightGradient<dnnl::convolution_backward_weights>(r, pd, wish, {.data = 1, .dout = 0});
  if (d.bias) sumBias(*kernel, r, pd.src_desc());
  return kernel;
}

}  // namespace

KernelPtr make(const DeconvolutionDesc& desc, const Request& request) {
  if (request.pass == Pass::backwardData) return backwardData(desc, request);
  if (request.pass == Pass::backwardWeights) return backwardWeights(desc, request);
  return forward(desc, request);
}

}  // namespace pitwall::onednn
