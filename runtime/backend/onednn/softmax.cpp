// Softmax accepts data in any layout and keeps it. oneDNN's has no temperature: a step before it divides.
#include "runtime/backend/onednn/operators.h"
#include "runtime/backend/onednn/softmax_forward.h"

namespace pitwall::onednn {
namespace {

using Forward = dnnl::softmax_forward::primitive_desc;
using Backward = dnnl::softmax_backward::primitive_desc;

Forward forwardOf(const Request& r, const Desc& data, int axis) {
  const auto kind =
      r.pass == Pass::inference ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  return {{kind, data, axis}, userScratchpad(), r.engine};
}

// Divides by the temperature.
void addDivision(PrimitiveKernel& kernel, const Request& r, const Desc& data, float temperature, Place from) {
  const dnnl::eltwise_forward::primitive_desc pd(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_linear, data, 1 / temperature, 0},
      userScratchpad(), r.engine);
  kernel.addStep(dnnl::eltwise_forward(pd), pd.scratchpad_desc(),
                 {{DNNL_ARG_SRC, data, from}, {DNNL_ARG_DST, data, outputAt(0)}});
}

KernelPtr backward(const SoftmaxDesc& desc, const Request& r, int axis) {
  const Desc data = descOf(r.inputs[0], dimsOf(r.inputs[0].shape));
  const Forward hint = forwardOf(r, data, axis);
  const Backward pd({data, data, axis}, userScratchpad(), r.engine, hint);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, data);
  kernel->setInput(1, data);
  kernel->setOutput(0, data);
  kernel->addStep(dnnl::softmax_backward(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_DST, data, inputAt(0)},
                   {DNNL_ARG_DIFF_DST, data, inputAt(1)},
                   {DNNL_ARG_DIFF_SRC, data, outputAt(0)}});
  if (desc.temperature != 1) addDivision(*kernel, r, data, desc.temperature, outputAt(0));
  return kernel;
}

}  // namespace

KernelPtr softmaxForward(const Request& r, const Desc& data, int axis, float temperature) {
  const Forward pd = forwardOf(r, data, axis);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  const bool same_view = data.dims() == dimsOf(r.inputs[0].shape);
  if (same_view) {
    kernel->setInput(0, data);
    kernel->setOutput(0, data);
  }
  const bool divides = temperature != 1;
  if (divides) addDivision(*kernel, r, data, temperature, inputAt(0));
  kernel->addStep(
      dnnl::softmax_forward(pd), pd.scratchpad_desc(),
      {{DNNL_ARG_SRC, data, divides ? outputAt(0) : inputAt(0)}, {DNNL_ARG_DST, data, outputAt(0)}});
  return kernel;
}

KernelPtr make(const SoftmaxDesc& desc, const Request& r) {
  const Shape& shape = r.inputs[0].shape;
  const int axis = desc.axis < 0 ? desc.axis + shape.rank() : desc.axis;
  if (r.pass == Pass::backward) return backward(desc, r, axis);
  return softmaxForward(r, descOf(r.inputs[0], dimsOf(shape)), axis, desc.temperature);
}

}  // namespace pitwall::onednn
