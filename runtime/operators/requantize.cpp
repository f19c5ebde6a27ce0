#include "runtime/operators/requantize.h"

#include <fmt/format.h>

#include <cmath>

#include "db/try.h"
#include "runtime/operators/support/integers.h"

namespace pitwall {

constinit const OperatorKind RequantizeDesc::kKind =
    OperatorKind::of<RequantizeDesc>("Requantize", {}, {.value = true});

Result<Signature> RequantizeDesc::infer(const ShapeQuery& q) const {
  PITWALL_TRY(expectInference(q, 3));
  if (q.inputs[0].dtype != DType::int32)
    return q.wrong(fmt::format("data is {}, must be int32", toString(q.inputs[0].dtype)));
  PITWALL_TRY(expectFloats(q, 1, {1}, "minimum"));
  PITWALL_TRY(expectFloats(q, 2, {1}, "maximum"));
  if (!isEightBit(output))
    return q.wrong(fmt::format("the output is {}: must be int8 or uint8", toString(output)));
  if (is_calibrated && !(range.minimum <= range.maximum))
    return q.wrong(
        fmt::format("the range is {} to {}: the minimum must be first", range.minimum, range.maximum));
  Signature s = q.signature({q.shape(0), Shape{1}, Shape{1}});
  s.outputs[0].dtype = output;
  return s;
}

}  // namespace pitwall
