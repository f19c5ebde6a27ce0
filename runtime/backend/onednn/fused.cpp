#include "runtime/backend/onednn/fused.h"

namespace pitwall::onednn {
namespace {

dnnl::algorithm algorithmOf(FusedActivation::Type type) {
  using Type = FusedActivation::Type;
  switch (type) {
    case Type::none: break;
    case Type::relu: return dnnl::algorithm::eltwise_relu;
    case Type::sigmoid: return dnnl::algorithm::eltwise_logistic;
    case Type::tanh: return dnnl::algorithm::eltwise_tanh;
    case Type::softrelu: return dnnl::algorithm::eltwise_soft_relu;
    case Type::clip: return dnnl::algorithm::eltwise_clip;
  }
  return dnnl::algorithm::undef;
}

}  // namespace

dnnl::primitive_attr fusedAttributes(const FusedActivation& activation, bool adds) {
  const bool clip = activation.type == FusedActivation::Type::clip;
  dnnl::post_ops after;
  if (adds) after.append_sum();
  if (activation.type != FusedActivation::Type::none)
    after.append_eltwise(1, algorithmOf(activation.type), clip ? activation.minimum : 0,
                         clip ? activation.maximum : 0);
  dnnl::primitive_attr attributes = userScratchpad();
  attributes.set_post_ops(after);
  return attributes;
}

}  // namespace pitwall::onednn
