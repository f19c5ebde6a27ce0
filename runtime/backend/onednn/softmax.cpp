// Softmax accepts data in any layout and keeps it. oneDNN's has no temperature: a step before it divides.
#include "runtime/backend/onednn/operators.h"
#include "runtime/backend/onednn/softmax_forward.h"

namespace pitwall::onednn {
namespace {

template <class Forward>
typename Forward::primitive_desc forwardOf(const Request& r, const Desc& data, int axis) {
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

template <class Forward, class Backward>
KernelPtr backward(const SoftmaxDesc& desc, const Request& r) {
  const Desc data = descOf(r.inputs[0], dimsOf(r.inputs[0].shape));
  const auto hint = forwardOf<Forward>(r, data, desc.axis);
  const typename Backward::primitive_desc pd({data, data, desc.axis}, userScratchpad(), r.engine, hint);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, data);
  kernel->setInput(1, data);
  kernel->setOutput(0, data);
  kernel->addStep(Backward(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_DST, data, inputAt(0)},
                   {DNNL_ARG_DIFF_DST, data, inputAt(1)},
                   {DNNL_ARG_DIFF_SRC, data, outputAt(0)}});
  if (desc.temperature != 1) addDivision(*kernel, r, data, desc.temperature, outputAt(0));
  return kernel;
}

template <class Forward>
KernelPtr forward(const Request& r, const Desc& data, const SoftmaxDesc& desc) {
  const auto pd = forwardOf<Forward>(r, data, desc.axis);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  const bool same_view = data.dims() == dimsOf(r.inputs[0].shape);
  if (same_view) {
    kernel->setInput(0, data);
    kernel->setOutput(0, data);
  }
  const bool divides = desc.temperature != 1;
  if (divides) addDivision(*kernel, r, data, desc.temperature, inputAt(0));
  kernel->addStep(
      Forward(pd), pd.scratchpad_desc(),
      {{DNNL_ARG_SRC, data, divides ? outputAt(0) : inputAt(0)}, {DNNL_ARG_DST, data, outputAt(0)}});
  return kernel;
}

}  // namespace

KernelPtr softmaxForward(const Request& r, const Desc& data, const SoftmaxDesc& desc) {
  return desc.logarithm ? forward<dnnl::logsoftmax_forward>(r, data, desc)
                        : forward<dnnl::softmax_forward>(r, data, desc);
}

KernelPtr make(const SoftmaxDesc& given, const Request& r) {
  const Shape& shape = r.inputs[0].shape;
  SoftmaxDesc desc = given;
  if (desc.axis < 0) desc.axis += shape.rank();
  if (r.pass != Pass::backward) return softmaxForward(r, descOf(r.inputs[0], dimsOf(shape)), desc);
  return desc.logarithm ? backward<dnnl::logsoftmax_forward, dnnl::logsoftmax_backward>(desc, r)
                        : backward<dnnl::softmax_forward, dnnl::softmax_backward>(desc, r);
}

}  // namespace pitwall::onednn
