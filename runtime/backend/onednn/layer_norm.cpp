// LayerNorm of row-major data, seen as rows x features.
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

using LayerNormForward = dnnl::layer_normalization_forward::primitive_desc;
using LayerNormBackward = dnnl::layer_normalization_backward::primitive_desc;
const auto kAffine = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;

struct LayerNormProblem {
  Desc data, rows, features;
};

LayerNormProblem layerNormProblemOf(const Shape& data) {
  const std::int64_t features = data[data.rank() - 1], rows = data.elements() / features;
  return {rowMajor({rows, features}), rowMajor({rows}), rowMajor({features})};
}

LayerNormForward forwardOf(const Request& r, const LayerNormDesc& d, const LayerNormProblem& p) {
  const auto kind =
      r.pass == Pass::inference ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  return {{kind, p.data, p.rows, d.epsilon, kAffine}, userScratchpad(), r.engine};
}

KernelPtr forward(const LayerNormDesc& d, const Request& r, const LayerNormProblem& p) {
  const LayerNormForward pd = forwardOf(r, d, p);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  std::vector<Argument> arguments{{DNNL_ARG_SRC, p.data, inputAt(0)},
                                  {DNNL_ARG_SCALE, p.features, inputAt(1)},
                                  {DNNL_ARG_SHIFT, p.features, inputAt(2)},
                                  {DNNL_ARG_DST, p.data, outputAt(0)}};
  if (r.pass == Pass::forward) {
    arguments.push_back({DNNL_ARG_MEAN, p.rows, outputAt(1)});
    arguments.push_back({DNNL_ARG_VARIANCE, p.rows, outputAt(2)});
  }
  kernel->addStep(dnnl::layer_normalization_forward(pd), pd.scratchpad_desc(), std::move(arguments));
  return kernel;
}

KernelPtr backward(const LayerNormDesc& d, const Request& r, const LayerNormProblem& p) {
  const LayerNormForward hint = forwardOf(r, d, p);
  const LayerNormBackward pd({dnnl::prop_kind::backward, p.data, p.data, p.rows, d.epsilon, kAffine},
                             userScratchpad(), r.engine, hint);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  // The shift does not matter to the gradient, but oneDNN 2 requires one: any array of that size works.
  kernel->addStep(dnnl::layer_normalization_backward(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_SRC, p.data, inputAt(0)},
                   {DNNL_ARG_SCALE, p.features, inputAt(1)},
                   {DNNL_ARG_SHIFT, p.features, inputAt(1)},
                   {DNNL_ARG_MEAN, p.rows, inputAt(2)},
                   {DNNL_ARG_VARIANCE, p.rows, inputAt(3)},
                   {DNNL_ARG_DIFF_DST, p.data, inputAt(4)},
                   {DNNL_ARG_DIFF_SRC, p.data, outputAt(0)},
                   {DNNL_ARG_DIFF_SCALE, p.features, outputAt(1)},
                   {DNNL_ARG_DIFF_SHIFT, p.features, outputAt(2)}});
  return kernel;
}

}  // namespace

KernelPtr make(const LayerNormDesc& desc, const Request& request) {
  const LayerNormProblem p = layerNormProblemOf(request.inputs[0].shape);
  return request.pass == Pass::backward ? backward(desc, request, p) : forward(desc, request, p);
}

}  // namespace pitwall::onednn
