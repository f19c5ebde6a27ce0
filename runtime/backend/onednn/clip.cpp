// Clip accepts data in any layout and keeps it.
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

using Forward = dnnl::eltwise_forward::primitive_desc;
using Backward = dnnl::eltwise_backward::primitive_desc;

constexpr auto kAlgorithm = dnnl::algorithm::eltwise_clip_v2_use_dst_for_bwd;

Forward forwardOf(const Request& r, const ClipDesc& d, const Desc& data) {
  const auto kind =
      r.pass == Pass::inference ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  return {{kind, kAlgorithm, data, d.minimum, d.maximum}, userScratchpad(), r.engine};
}

KernelPtr forward(const ClipDesc& d, const Request& r) {
  const Forward pd = forwardOf(r, d, descOf(r.inputs[0], dimsOf(r.inputs[0].shape)));
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, pd.src_desc());
  kernel->setOutput(0, pd.dst_desc());
  kernel->addStep(dnnl::eltwise_forward(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_SRC, pd.src_desc(), inputAt(0)}, {DNNL_ARG_DST, pd.dst_desc(), outputAt(0)}});
  return kernel;
}

KernelPtr backward(const ClipDesc& d, const Request& r) {
  const Desc layout = descOf(r.inputs[0], dimsOf(r.inputs[0].shape));
  const Forward hint = forwardOf(r, d, layout);
  const Backward pd({kAlgorithm, layout, layout, d.minimum, d.maximum}, userScratchpad(), r.engine, hint);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, layout);
  kernel->setInput(1, layout);
  kernel->setOutput(0, layout);
  kernel->addStep(dnnl::eltwise_backward(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_DST, layout, inputAt(0)},
                   {DNNL_ARG_DIFF_DST, layout, inputAt(1)},
                   {DNNL_ARG_DIFF_SRC, layout, outputAt(0)}});
  return kernel;
}

}  // namespace

KernelPtr make(const ClipDesc& desc, const Request& request) {
  return request.pass == Pass::backward ? backward(desc, request) : forward(desc, request);
}

}  // namespace pitwall::onednn
