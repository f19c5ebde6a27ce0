// Activation accepts data in any layout and keeps it. The gradient is computed from the output where that is
// possible (relu, sigmoid, tanh), so that the input need not be kept.
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

using Forward = dnnl::eltwise_forward::primitive_desc;
using Backward = dnnl::eltwise_backward::primitive_desc;

dnnl::algorithm algorithmOf(ActivationType type) {
  switch (type) {
    case ActivationType::relu: return dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
    case ActivationType::sigmoid: return dnnl::algorithm::eltwise_logistic_use_dst_for_bwd;
    case ActivationType::tanh: return dnnl::algorithm::eltwise_tanh_use_dst_for_bwd;
    case ActivationType::softrelu: return dnnl::algorithm::eltwise_soft_relu;
  }
  return dnnl::algorithm::undef;
}

Forward forwardOf(const Request& r, const ActivationDesc& d, const Desc& data) {
  const auto kind =
      r.pass == Pass::inference ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  return {{kind, algorithmOf(d.type), data, 0.0F, 0.0F}, userScratchpad(), r.engine};
}

KernelPtr forward(const ActivationDesc& d, const Request& r) {
  const Forward pd = forwardOf(r, d, descOf(r.inputs[0], dimsOf(r.inputs[0].shape)));
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, pd.src_desc());
  kernel->setOutput(0, pd.dst_desc());
  kernel->addStep(dnnl::eltwise_forward(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_SRC, pd.src_desc(), inputAt(0)}, {DNNL_ARG_DST, pd.dst_desc(), outputAt(0)}});
  return kernel;
}

KernelPtr backward(const ActivationDesc& d, const Request& r) {
  const bool reads_data = d.type == ActivationType::softrelu;
  const std::size_t read = reads_data ? 0 : 1;
  const Desc layout = descOf(r.inputs[read], dimsOf(r.inputs[read].shape));
  const Forward hint = forwardOf(r, d, layout);
  const Backward pd({algorithmOf(d.type), layout, layout, 0.0F, 0.0F}, userScratchpad(), r.engine, hint);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->keepInput(1 - read, r.inputs[1 - read]);
  kernel->setInput(read, layout);
  kernel->setInput(2, layout);
  kernel->setOutput(0, layout);
  kernel->addStep(dnnl::eltwise_backward(pd), pd.scratchpad_desc(),
                  {{reads_data ? DNNL_ARG_SRC : DNNL_ARG_DST, layout, inputAt(read)},
                   {DNNL_ARG_DIFF_DST, layout, inputAt(2)},
                   {DNNL_ARG_DIFF_SRC, layout, outputAt(0)}});
  return kernel;
}

}  // namespace

KernelPtr make(const ActivationDesc& desc, const Request& request) {
  return request.pass == Pass::backward ? backward(desc, request) : forward(desc, request);
}

}  // namespace pitwall::onednn
