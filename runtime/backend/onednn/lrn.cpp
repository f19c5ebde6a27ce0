// LRN accepts data in any layout and keeps it. The workspace holds what the forward primitive computed for
// the gradient; some implementations need none.
#include <algorithm>
#include <stdexcept>

#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

using LrnForward = dnnl::lrn_forward::primitive_desc;
using LrnBackward = dnnl::lrn_backward::primitive_desc;

constexpr auto kAcross = dnnl::algorithm::lrn_across_channels;

LrnForward forwardOf(const Request& r, const LrnDesc& d, const Desc& data, dnnl::prop_kind kind) {
  return {{kind, kAcross, data, d.nsize, d.alpha, d.beta, d.knorm}, userScratchpad(), r.engine};
}

KernelPtr forward(const LrnDesc& d, const Request& r) {
  const bool training = r.pass == Pass::forward;
  const LrnForward pd =
      forwardOf(r, d, descOf(r.inputs[0], dimsOf(r.inputs[0].shape)),
                training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, pd.src_desc());
  kernel->setOutput(0, pd.dst_desc());
  std::vector<Argument> arguments{{DNNL_ARG_SRC, pd.src_desc(), inputAt(0)},
                                  {DNNL_ARG_DST, pd.dst_desc(), outputAt(0)}};
  const auto workspace_bytes = static_cast<Bytes>(pd.workspace_desc().get_size());
  if (training && workspace_bytes != 0) {
    kernel->setWorkspace(1, workspace_bytes);
    arguments.push_back({DNNL_ARG_WORKSPACE, pd.workspace_desc(), outputAt(1)});
  }
  kernel->addStep(dnnl::lrn_forward(pd), pd.scratchpad_desc(), std::move(arguments));
  return kernel;
}

KernelPtr backward(const LrnDesc& d, const Request& r) {
  const Desc data = descOf(r.inputs[0], dimsOf(r.inputs[0].shape));
  const LrnForward hint = forwardOf(r, d, data, dnnl::prop_kind::forward_training);
  const LrnBackward pd({kAcross, data, data, d.nsize, d.alpha, d.beta, d.knorm}, userScratchpad(), r.engine,
                       hint);
  const auto workspace_bytes = static_cast<Bytes>(pd.workspace_desc().get_size());
  if (workspace_bytes != 0 && r.inputs[2].sizeBytes() != workspace_bytes)
    throw std::invalid_argument("the workspace is not that of the forward pass");
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, pd.src_desc());
  kernel->setInput(1, pd.diff_dst_desc());
  kernel->setOutput(0, pd.diff_src_desc());
  std::vector<Argument> arguments{{DNNL_ARG_SRC, pd.src_desc(), inputAt(0)},
                                  {DNNL_ARG_DIFF_DST, pd.diff_dst_desc(), inputAt(1)},
                                  {DNNL_ARG_DIFF_SRC, pd.diff_src_desc(), outputAt(0)}};
  if (workspace_bytes != 0) arguments.push_back({DNNL_ARG_WORKSPACE, pd.workspace_desc(), inputAt(2)});
  kernel->addStep(dnnl::lrn_backward(pd), pd.scratchpad_desc(), std::move(arguments));
  return kernel;
}

}  // namespace

KernelPtr make(const LrnDesc& desc, const Request& request) {
  return request.pass == Pass::backward ? backward(desc, request) : forward(desc, request);
}

}  // namespace pitwall::onednn
