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
  if (std::ranges::any_of(q.inputs, [](const TensorSpec& spec) { return spec.dtype != DType::float32; }))
    return fail(ErrorCode::unsupported,
                describeRequest(q.desc, q.pass, q.inputs, q.like) + ": all inputs must be float32");
  if (q.pass == Pass::backward) return inferBackward(q);
  const std::size_t first = firstOfNorm();
  PITWALL_TRY(expectInference(q, first + 4));
  std::vector<TensorSpec> of_norm(q.inputs.begin() + static_cast<std::ptrdiff_t>(first), q.inputs.end());
  of_norm.insert(of_norm.begin(), q.inputs[0]);
  PITWALL_TRY(norm.infer({q.desc, q.pass, of_norm, q.like}));
  const Signature plain = PITWALL_TRY(convolution.infer({q.desc, q.pass, q.inputs.first(first), q.like}));
  return q.signature({plain.outputs[0].shape});
}

Result<Signature> NormalizedConvolutionDesc::inferBackward(const ShapeQuery& q) const {
  PITWALL_TRY(q.expectInputs(3));
  if (!norm.fix_gamma || norm.relu || convolution.groups != 1 || q.shape(2).rank() != 4)
    return fail(ErrorCode::unsupported,
                describeRequest(q.desc, q.pass, q.inputs, q.like) +
                    ": has gradients where gamma is fixed, without a relu and groups, of images");
  PITWALL_TRY(convolution.infer({q.desc, Pass::backwardData, q.inputs.first(2), &q.inputs[2]}));
  const Shape channels{q.shape(2)[1]};
  return q.signature({channels, channels});
}

}  // namespace pitwall
