#include "runtime/operators/quantize.h"

#include <fmt/format.h>

#include <cmath>

#include "db/try.h"
#include "runtime/operators/support/integers.h"

namespace pitwall {

constinit const OperatorKind QuantizeDesc::kKind =
    OperatorKind::of<QuantizeDesc>("Quantize", {}, {.value = true});

Result<Signature> QuantizeDesc::infer(const ShapeQuery& q) const {
  PITWALL_TRY(expectInference(q, 1));
  PITWALL_TRY(expectFloats(q, 0, q.shape(0), "data"));
  if (!isEightBit(output))
    return q.wrong(fmt::format("the output is {}: must be int8 or uint8", toString(output)));
  const bool finite = std::isfinite(range.minimum) && std::isfinite(range.maximum);
  if (is_calibrated && (!finite || range.minimum > range.maximum))
    return q.wrong(fmt::format("the range is {} to {}: must be finite, the minimum first", range.minimum,
                               range.maximum));
  Signature s = q.signature({q.shape(0), Shape{1}, Shape{1}});
  s.outputs[0].dtype = output;
  return s;
}

}  // namespace pitwall
