#include "runtime/operators/dequantize.h"

#include "db/try.h"
#include "runtime/operators/support/integers.h"

namespace pitwall {

constinit const OperatorKind DequantizeDesc::kKind =
    OperatorKind::of<DequantizeDesc>("Dequantize", {}, {.value = true});

Result<Signature> DequantizeDesc::infer(const ShapeQuery& q) const {
  PITWALL_TRY(expectInference(q, 3));
  if (q.inputs[0].dtype != DType::int32) PITWALL_TRY(expectEightBit(q, 0, "data"));
  PITWALL_TRY(expectFloats(q, 1, {1}, "minimum"));
  PITWALL_TRY(expectFloats(q, 2, {1}, "maximum"));
  return q.signature({q.shape(0)});
}

}  // namespace pitwall
