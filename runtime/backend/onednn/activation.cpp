// The gradient is computed from the output where that is possible (relu, sigmoid, tanh), so that the input need not be
// kept.
#include "runtime/backend/onednn/eltwise.h"
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

dnnl::algorithm algorithmOf(ActivationType type) {
  switch (type) {
    case ActivationType::relu: return dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
    case ActivationType::sigmoid: return dnnl::algorithm::eltwise_logistic_use_dst_for_bwd;
    case ActivationType::tanh: return dnnl::algorithm::eltwise_tanh_use_dst_for_bwd;
    case ActivationType::softrelu: return dnnl::algorithm::eltwise_soft_relu;
  }
  return dnnl::algorithm::undef;
}

}  // namespace

// Inputs of the backward pass: data, output, gradient of the output.
KernelPtr make(const ActivationDesc& desc, const Request& request) {
  const Eltwise activation{algorithmOf(desc.type)};
  if (request.pass != Pass::backward) return eltwiseForward(activation, request);
  const bool from_output = desc.type != ActivationType::softrelu;
  return eltwiseBackward(
      activation, {.from_output = from_output, .value = from_output ? 1U : 0U, .gradient = 2}, request);
}

}  // namespace pitwall::onednn
