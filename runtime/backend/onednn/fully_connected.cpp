// FullyConnected, always on row-major N x K data of any rank.
//
// oneDNN also takes 4-D blocked data, but computes with the padding too: with the 50 channels of a LeNet
// padded to 64, the three passes take 1.6 times as long, and the reorder that this saves is 3 % of one pass.
// The blocked weight of the forward pass serves all three passes without a reorder.
#include "runtime/backend/onednn/fused.h"
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

using FullyConnectedForward = dnnl::inner_product_forward::primitive_desc;
using FullyConnectedBackwardData = dnnl::inner_product_backward_data::primitive_desc;
using FullyConnectedBackwardWeights = dnnl::inner_product_backward_weights::primitive_desc;

struct FullyConnectedProblem {
  Dims data, weight, bias, out;
  bool has_bias;

  Desc biasDesc() const { return has_bias ? rowMajor(bias) : Desc(); }
};

FullyConnectedProblem denseProblemOf(const FullyConnectedDesc& d, const Shape& data) {
  const std::int64_t features = d.flatten ? data.elements() / data[0] : data[data.rank() - 1];
  const std::int64_t samples = data.elements() / features;
  return {{samples, features}, {d.units, features}, {d.units}, {samples, d.units}, d.bias};
}

// The library's preference, or row-major.
Desc denseWeightWish(const Request& r, const FullyConnectedProblem& p) {
  return r.options.plain_dense_weights ? rowMajor(p.weight) : anyLayout(p.weight);
}

FullyConnectedForward forwardOf(const Request& r, const FullyConnectedProblem& p, dnnl::prop_kind kind,
                                const dnnl::primitive_attr& attributes = userScratchpad()) {
  return {
      {kind, rowMajor(p.data), denseWeightWish(r, p), p.biasDesc(), rowMajor(p.out)}, attributes, r.engine};
}

KernelPtr forward(const FullyConnectedDesc& d, const Request& r) {
  const FullyConnectedProblem p = denseProblemOf(d, r.inputs[0].shape);
  const auto kind =
      r.pass == Pass::inference ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  const FullyConnectedForward pd = forwardOf(r, p, kind, fusedAttributes(d.activation));
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(1, pd.weights_desc());
  std::vector<Argument> arguments{{DNNL_ARG_SRC, pd.src_desc(), inputAt(0)},
                                  {DNNL_ARG_WEIGHTS, pd.weights_desc(), inputAt(1)},
                                  {DNNL_ARG_DST, pd.dst_desc(), outputAt(0)}};
  if (d.bias) arguments.push_back({DNNL_ARG_BIAS, pd.bias_desc(), inputAt(2)});
  kernel->addStep(dnnl::inner_product_forward(pd), pd.scratchpad_desc(), std::move(arguments));
  return kernel;
}

KernelPtr backwardData(const FullyConnectedDesc& d, const Request& r) {
  const FullyConnectedProblem p = denseProblemOf(d, r.signature.outputs[0].shape);
  const FullyConnectedForward hint = forwardOf(r, p, dnnl::prop_kind::forward_training);
  const auto of = [&](const Desc& weight, bool allow_failure) {
    return FullyConnectedBackwardData({rowMajor(p.data), weight, rowMajor(p.out)}, userScratchpad(), r.engine,
                                      hint, allow_failure);
  };
  const FullyConnectedBackwardData pd = r.options.plain_dense_weights
                                            ? of(rowMajor(p.weight), false)
                                            : preferGivenWeight(p.weight, descOf(r.inputs[1], p.weight), of);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(1, pd.weights_desc());
  kernel->addStep(dnnl::inner_product_backward_data(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_DIFF_DST, pd.diff_dst_desc(), inputAt(0)},
                   {DNNL_ARG_WEIGHTS, pd.weights_desc(), inputAt(1)},
                   {DNNL_ARG_DIFF_SRC, pd.diff_src_desc(), outputAt(0)}});
  return kernel;
}

KernelPtr backwardWeights(const FullyConnectedDesc& d, const Request& r) {
  const FullyConnectedProblem p = denseProblemOf(d, r.inputs[0].shape);
  const FullyConnectedForward hint = forwardOf(r, p, dnnl::prop_kind::forward_training);
  const Desc wish = r.like != nullptr ? descOf(*r.like, p.weight) : hint.weights_desc();
  const FullyConnectedBackwardWeights pd =
      preferGivenWeight(p.weight, wish, [&](const Desc& weight, bool allow_failure) {
        return FullyConnectedBackwardWeights({rowMajor(p.data), weight, p.biasDesc(), rowMajor(p.out)},
                                             userScratchpad(), r.engine, hint, allow_failure);
      });
  return weightGradient<dnnl::inner_product_backward_weights>(r, pd, wish);
}

}  // namespace

KernelPtr make(const FullyConnectedDesc& desc, const Request& request) {
  if (request.pass == Pass::backwardData) return backwardData(desc, request);
  if (request.pass == Pass::backwardWeights) return backwardWeights(desc, request);
  return forward(desc, request);
}

}  // namespace pitwall::onednn
