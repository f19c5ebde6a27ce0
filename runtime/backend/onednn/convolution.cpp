// Convolution. Data and outputs use the layout that oneDNN prefers, as do weights in the forward pass.
//
// The backward passes: the weight stays in the layout of the forward pass unless that forces a slower
// implementation. On AVX-512 it does for backwardData (which needs inputs and outputs exchanged); the reorder
// of a weight then costs less than 1 % of the pass, where the plain implementation takes over ten times as
// long.
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

using Forward = dnnl::convolution_forward::primitive_desc;
using BackwardData = dnnl::convolution_backward_data::primitive_desc;
using BackwardWeights = dnnl::convolution_backward_weights::primitive_desc;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

// One convolution's extents in oneDNN's form.
struct Problem {
  Dims data, weight, bias, out, strides, dilates, pad_low, pad_high;
  bool has_bias;

  Desc biasDesc() const { return has_bias ? rowMajor(bias) : Desc(); }
};

Problem problemOf(const ConvolutionDesc& d, const Shape& data, const Shape& weight, const Shape& out) {
  Problem p{.data = dimsOf(data),
            .weight = dimsOf(weight),
            .bias = {d.channels},
            .out = dimsOf(out),
            .strides = {d.stride[0], d.stride[1]},
            .dilates = {d.dilate[0] - 1, d.dilate[1] - 1},
            .pad_low = {d.pad[0], d.pad[1]},
            .pad_high = {},
            .has_bias = d.bias};
  if (d.groups > 1) {
    p.weight = {d.groups, d.channels / d.groups, weight[1], weight[2], weight[3]};
  }
  // oneDNN expects the far padding that the window actually covers: less than pad where the stride skips
  // some.
  for (int i = 0; i < 2; ++i) {
    const auto axis = static_cast<std::size_t>(i);
    const std::int64_t reach = d.dilate[axis] * (d.kernel[axis] - 1) + 1;
    p.pad_high.push_back((out[i + 2] - 1) * d.stride[axis] + reach - data[i + 2] - d.pad[axis]);
  }
  return p;
}

Forward forwardOf(const Request& r, const Problem& p, dnnl::prop_kind kind) {
  return {{kind, kDirect, anyLayout(p.data), anyLayout(p.weight), p.biasDesc(), anyLayout(p.out), p.strides,
           p.dilates, p.pad_low, p.pad_high},
          userScratchpad(),
          r.engine};
}

BackwardData backwardDataOf(const Request& r, const Problem& p, const Forward& hint, const Desc& weight,
                            bool allow_failure) {
  return {{kDirect, anyLayout(p.data), weight, anyLayout(p.out), p.strides, p.dilates, p.pad_low, p.pad_high},
          userScratchpad(),
          r.engine,
          hint,
          allow_failure};
}

BackwardWeights backwardWeightsOf(const Request& r, const Problem& p, const Forward& hint, const Desc& weight,
                                  bool allow_failure) {
  return {{kDirect, anyLayout(p.data), weight, p.biasDesc(), anyLayout(p.out), p.strides, p.dilates,
           p.pad_low, p.pad_high},
          userScratchpad(),
          r.engine,
          hint,
          allow_failure};
}

KernelPtr forward(const ConvolutionDesc& d, const Request& r) {
  const Problem p = problemOf(d, r.inputs[0].shape, r.inputs[1].shape, r.signature.outputs[0].shape);
  const auto kind =
      r.pass == Pass::inference ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  const Forward pd = forwardOf(r, p, kind);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, pd.src_desc());
  kernel->setInput(1, pd.weights_desc());
  kernel->setOutput(0, pd.dst_desc());
  std::vector<Argument> arguments{{DNNL_ARG_SRC, pd.src_desc(), inputAt(0)},
                                  {DNNL_ARG_WEIGHTS, pd.weights_desc(), inputAt(1)},
                                  {DNNL_ARG_DST, pd.dst_desc(), outputAt(0)}};
  if (d.bias) arguments.push_back({DNNL_ARG_BIAS, pd.bias_desc(), inputAt(2)});
  kernel->addStep(dnnl::convolution_forward(pd), pd.scratchpad_desc(), std::move(arguments));
  return kernel;
}

KernelPtr backwardData(const ConvolutionDesc& d, const Request& r) {
  const Problem p = problemOf(d, r.like->shape, r.inputs[1].shape, r.inputs[0].shape);
  const Forward hint = forwardOf(r, p, dnnl::prop_kind::forward_training);
  const BackwardData pd =
      preferGivenWeight(p.weight, descOf(r.inputs[1], p.weight), [&](const Desc& weight, bool allow_failure) {
        return backwardDataOf(r, p, hint, weight, allow_failure);
      });
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, pd.diff_dst_desc());
  kernel->setInput(1, pd.weights_desc());
  kernel->setOutput(0, pd.diff_src_desc());
  kernel->addStep(dnnl::convolution_backward_data(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_DIFF_DST, pd.diff_dst_desc(), inputAt(0)},
                   {DNNL_ARG_WEIGHTS, pd.weights_desc(), inputAt(1)},
                   {DNNL_ARG_DIFF_SRC, pd.diff_src_desc(), outputAt(0)}});
  return kernel;
}

KernelPtr backwardWeights(const ConvolutionDesc& d, const Request& r) {
  const Shape& shape = r.signature.outputs[0].shape;
  const Problem p = problemOf(d, r.inputs[0].shape, shape, r.inputs[1].shape);
  const Forward hint = forwardOf(r, p, dnnl::prop_kind::forward_training);
  const Desc wish = r.like != nullptr ? descOf(*r.like, p.weight) : hint.weights_desc();
  const BackwardWeights pd = preferGivenWeight(p.weight, wish, [&](const Desc& weight, bool allow_failure) {
    return backwardWeightsOf(r, p, hint, weight, allow_failure);
  });
  return weightGradient<dnnl::convolution_backward_weights>(r, pd, wish, d.bias);
}

}  // namespace

KernelPtr make(const ConvolutionDesc& desc, const Request& request) {
  if (request.pass == Pass::backwardData) return backwardData(desc, request);
  if (request.pass == Pass::backwardWeights) return backwardWeights(desc, request);
  return forward(desc, request);
}

}  // namespace pitwall::onednn
