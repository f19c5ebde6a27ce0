#include "runtime/operators/normalized_convolution.h"

#include <algorithm>
#include <vector>

#include "db/try.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/integers.h"

namespace pitwall {

constinit const OperatorKind NormalizedConvolutionDesc::kKind =
    OperatorKind::of<NormalizedConvolutionDesc>("NormalizedConvolution");

Result<Signature> NormalizedConvolutionDesc::infer(const ShapeQuery& q) const {
  const std::size_t first = firstOfNorm();
  PITWALL_TRY(expectInference(q, first + 4));
  if (std::ranges::any_of(q.inputs, [](const TensorSpec& spec) { return spec.dtype != DType::float32; }))
    return fail(ErrorCode::unsupported,
                describeRequest(q.desc, q.pass, q.inputs, q.like) + ": all inputs must be float32");
  std::vector<TensorSpec> of_norm(q.inputs.begin() + static_cast<std::ptrdiff_t>(first), q.inputs.end());
  of_norm.insert(of_norm.begin(), q.inputs[0]);
  PITWALL_TRY(norm.infer({q.desc, q.pass, of_norm, q.like}));
  const Signature plain = PITWALL_TRY(convolution.infer({q.desc, q.pass, q.inputs.first(first), q.like}));
  return q.signature({plain.outputs[0].shape});
}

}  // namespace pitwall
