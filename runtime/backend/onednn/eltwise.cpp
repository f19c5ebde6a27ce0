#include "runtime/backend/onednn/eltwise.h"

namespace pitwall::onednn {
namespace {

using EltwiseForward = dnnl::eltwise_forward::primitive_desc;
using EltwiseBackward = dnnl::eltwise_backward::primitive_desc;

EltwiseForward forwardOf(const Eltwise& e, const Request& r, const Desc& data) {
  const auto kind =
      r.pass == Pass::inference ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  return {{kind, e.algorithm, data, e.alpha, e.beta}, userScratchpad(), r.engine};
}

// Few elements take less time on one thread.
std::shared_ptr<PrimitiveKernel> kernelOf(const Request& r, const TensorSpec& data,
                                          const std::string& implementation) {
  const bool is_small = data.sizeBytes() / sizeOf(data.dtype) < r.options.library_parallel_elements;
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature,
                                                  implementation + (is_small ? ", one thread" : ""));
  if (is_small) kernel->setThreads(1);
  return kernel;
}

}  // namespace

KernelPtr eltwiseForward(const Eltwise& operation, const Request& r) {
  const EltwiseForward pd = forwardOf(operation, r, descOf(r.inputs[0], dimsOf(r.inputs[0].shape)));
  auto kernel = kernelOf(r, r.inputs[0], pd.impl_info_str());
  kernel->setInput(0, pd.src_desc());
  kernel->setOutput(0, pd.dst_desc());
  kernel->addStep(dnnl::eltwise_forward(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_SRC, pd.src_desc(), inputAt(0)}, {DNNL_ARG_DST, pd.dst_desc(), outputAt(0)}});
  return kernel;
}

KernelPtr eltwiseBackward(const Eltwise& operation, const EltwiseGradient& places, const Request& r) {
  const auto& [from_output, value, gradient] = places;
  const Desc layout = descOf(r.inputs[value], dimsOf(r.inputs[value].shape));
  const EltwiseForward hint = forwardOf(operation, r, layout);
  const EltwiseBackward pd({operation.algorithm, layout, layout, operation.alpha, operation.beta},
                           userScratchpad(), r.engine, hint);
  auto kernel = kernelOf(r, r.inputs[value], pd.impl_info_str());
  for (std::size_t i = 0; i < r.inputs.size(); ++i) {
    if (i == value || i == gradient) {
      kernel->setInput(i, layout);
    } else {
      kernel->keepInput(i, r.inputs[i]);
    }
  }
  kernel->setOutput(0, layout);
  kernel->addStep(dnnl::eltwise_backward(pd), pd.scratchpad_desc(),
                  {{from_output ? DNNL_ARG_DST : DNNL_ARG_SRC, layout, inputAt(value)},
                   {DNNL_ARG_DIFF_DST, layout, inputAt(gradient)},
                   {DNNL_ARG_DIFF_SRC, layout, outputAt(0)}});
  return kernel;
}

}  // namespace pitwall::onednn
