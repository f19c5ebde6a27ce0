// The gradient of Clip is computed from its output, its input 0 of the backward pass.
#include "runtime/backend/onednn/eltwise.h"
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {

KernelPtr make(const ClipDesc& desc, const Request& request) {
  const Eltwise clip{dnnl::algorithm::eltwise_clip_v2_use_dst_for_bwd, desc.minimum, desc.maximum};
  if (request.pass != Pass::backward) return eltwiseForward(clip, request);
  return eltwiseBackward(clip, {.from_output = true, .value = 0, .gradient = 1}, request);
}

}  // namespace pitwall::onednn
