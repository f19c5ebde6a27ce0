// The softmax; cpu_kernels/ has the gradient. Over all axes but the first, the data is row-major, seen as N x K.
#include "runtime/backend/onednn/operators.h"
#include "runtime/backend/onednn/softmax_forward.h"

namespace pitwall::onednn {

KernelPtr make(const SoftmaxOutputDesc& desc, const Request& r) {
  const Shape& shape = r.inputs[0].shape;
  const bool flat = !desc.multi_output && !desc.preserve_shape && shape.rank() > 2;
  if (flat) return softmaxForward(r, rowMajor({shape[0], shape.elements() / shape[0]}), {.axis = 1});
  const int axis = desc.multi_output ? 1 : shape.rank() - 1;
  return softmaxForward(r, descOf(r.inputs[0], dimsOf(shape)), {.axis = axis});
}

}  // namespace pitwall::onednn
