#include "runtime/operators/quantized_binary.h"

#include "db/try.h"
#include "runtime/operators/support/integers.h"

namespace pitwall {

constinit const OperatorKind QuantizedBinaryDesc::kKind =
    OperatorKind::of<QuantizedBinaryDesc>("QuantizedBinary", {}, {.value = true});

Result<Signature> QuantizedBinaryDesc::infer(const ShapeQuery& q) const {
  PITWALL_TRY(expectInference(q, 2));
  PITWALL_TRY(expectEightBit(q, 0, "lhs"));
  PITWALL_TRY(expectEightBit(q, 1, "rhs"));
  PITWALL_TRY(q.expectShape(1, q.shape(0), "rhs"));
  if (type != BinaryType::add && type != BinaryType::multiply)
    return q.wrong("8-bit arrays are added or multiplied, nothing else");
  PITWALL_TRY(expectOutputType(q, output));
  Signature s = q.signature({q.shape(0)});
  s.outputs[0].dtype = output;
  return s;
}

}  // namespace pitwall
