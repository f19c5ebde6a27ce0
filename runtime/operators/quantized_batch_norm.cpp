#include "runtime/operators/quantized_batch_norm.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/operators/support/integers.h"

namespace pitwall {

constinit const OperatorKind QuantizedBatchNormDesc::kKind =
    OperatorKind::of<QuantizedBatchNormDesc>("QuantizedBatchNorm", {}, {.value = true});

Result<Signature> QuantizedBatchNormDesc::infer(const ShapeQuery& q) const {
  PITWALL_TRY(expectInference(q, 3));
  PITWALL_TRY(expectEightBit(q, 0, "data"));
  if (q.shape(0).rank() < 2) return q.wrong("data must have 2 axes at least");
  PITWALL_TRY(expectFloats(q, 1, {q.shape(0)[1]}, "scale"));
  PITWALL_TRY(expectFloats(q, 2, {q.shape(0)[1]}, "shift"));
  if (!isEightBit(output))
    return q.wrong(fmt::format("the output is {}: must be int8 or uint8", toString(output)));
  Signature s = q.signature({q.shape(0)});
  s.outputs[0].dtype = output;
  return s;
}

}  // namespace pitwall
