// The maximum and the average; cpu_kernels/ has the others. Pooling accepts data in any layout and keeps it, so blocked outputs of a convolution need no reorder.
//
// The workspace holds the position of each maximum. Its inner order is that of the forward primitive, so the
// backward primitive is created from the same one: same data layout, same output layout.
#include <stdexcept>

#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

using PoolingForward = dnnl::pooling_forward::primitive_desc;
using PoolingBackward = dnnl::pooling_backward::primitive_desc;

struct PoolingProblem {
  dnnl::algorithm algorithm;
  Desc data;
  Dims out, strides, kernel, pad_low, pad_high;
};

// Windows that reach beyond the padding are computed in cpu_kernels/, unless there is no padding: then those elements do
// not count.
dnnl::algorithm algorithmOf(const PoolingDesc& d) {
  if (d.type == PoolingType::max) return dnnl::algorithm::pooling_max;
  const bool padded = d.pad[0] > 0 || d.pad[1] > 0;
  return d.count_padding && padded ? dnnl::algorithm::pooling_avg_include_padding
                                   : dnnl::algorithm::pooling_avg_exclude_padding;
}

PoolingProblem problemOf(const PoolingDesc& d, const TensorSpec& data, const Shape& out) {
  PoolingProblem p{.algorithm = algorithmOf(d),
                   .data = descOf(data, dimsOf(data.shape)),
                   .out = dimsOf(out),
                   .strides = {},
                   .kernel = {},
                   .pad_low = {},
                   .pad_high = {}};
  for (std::size_t i = firstOfWindow(data.shape); i < 2; ++i) {
    const int axis = static_cast<int>(i) + data.shape.rank() - 2;
    p.strides.push_back(d.stride[i]);
    p.kernel.push_back(d.kernel[i]);
    p.pad_low.push_back(d.pad[i]);
    p.pad_high.push_back((out[axis] - 1) * d.stride[i] + d.kernel[i] - data.shape[axis] - d.pad[i]);
  }
  return p;
}

PoolingForward forwardOf(const Request& r, const PoolingProblem& p, dnnl::prop_kind kind) {
  return {{kind, p.algorithm, p.data, anyLayout(p.out, p.data.data_type()), p.strides, p.kernel, p.pad_low,
           p.pad_high},
          userScratchpad(),
          r.engine};
}

KernelPtr forward(const PoolingDesc& d, const Request& r) {
  const PoolingProblem p = problemOf(d, r.inputs[0], r.signature.outputs[0].shape);
  const bool training = r.pass == Pass::forward;
  const PoolingForward pd =
      forwardOf(r, p, training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, pd.src_desc());
  kernel->setOutput(0, pd.dst_desc());
  std::vector<Argument> arguments{{DNNL_ARG_SRC, pd.src_desc(), inputAt(0)},
                                  {DNNL_ARG_DST, pd.dst_desc(), outputAt(0)}};
  if (training && d.type == PoolingType::max) {
    kernel->setWorkspace(1, static_cast<Bytes>(pd.workspace_desc().get_size()));
    arguments.push_back({DNNL_ARG_WORKSPACE, pd.workspace_desc(), outputAt(1)});
  }
  kernel->addStep(dnnl::pooling_forward(pd), pd.scratchpad_desc(), std::move(arguments));
  return kernel;
}

KernelPtr backward(const PoolingDesc& d, const Request& r) {
  const PoolingProblem p = problemOf(d, r.inputs[0], r.inputs[2].shape);
  const PoolingForward hint = forwardOf(r, p, dnnl::prop_kind::forward_training);
  const PoolingBackward pd({p.algorithm, p.data, hint.dst_desc(), p.strides, p.kernel, p.pad_low, p.pad_high},
                           userScratchpad(), r.engine, hint);
  const auto workspace_bytes = static_cast<Bytes>(pd.workspace_desc().get_size());
  if (d.type == PoolingType::max && r.inputs[3].sizeBytes() != workspace_bytes) {
    throw std::invalid_argument("the workspace is not that of the forward pass");
  }
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->keepInput(0, r.inputs[0]);
  kernel->keepInput(1, r.inputs[1]);
  kernel->setInput(2, pd.diff_dst_desc());
  kernel->setOutput(0, pd.diff_src_desc());
  std::vector<Argument> arguments{{DNNL_ARG_DIFF_DST, pd.diff_dst_desc(), inputAt(2)},
                                  {DNNL_ARG_DIFF_SRC, pd.diff_src_desc(), outputAt(0)}};
  if (d.type == PoolingType::max) arguments.push_back({DNNL_ARG_WORKSPACE, pd.workspace_desc(), inputAt(3)});
  kernel->addStep(dnnl::pooling_backward(pd), pd.scratchpad_desc(), std::move(arguments));
  return kernel;
}

}  // namespace

KernelPtr make(const PoolingDesc& given, const Request& request) {
  const PoolingDesc desc = given.over(request.inputs[0].shape);
  return request.pass == Pass::backward ? backward(desc, request) : forward(desc, request);
}

}  // namespace pitwall::onednn
