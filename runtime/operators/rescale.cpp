#include "runtime/operators/rescale.h"

#include <fmt/format.h>

#include <cmath>

#include "db/try.h"
#include "runtime/operators/support/integers.h"

namespace pitwall {

constinit const OperatorKind RescaleDesc::kKind =
    OperatorKind::of<RescaleDesc>("Rescale", {}, {.value = true});

Result<Signature> RescaleDesc::infer(const ShapeQuery& q) const {
  PITWALL_TRY(expectInference(q, 1));
  if (!std::isfinite(scale) || scale <= 0)
    return q.wrong(fmt::format("the scale is {}: must be finite and more than 0", scale));
  PITWALL_TRY(expectOutputType(q, output));
  Signature s = q.signature({q.shape(0)});
  s.outputs[0].dtype = output;
  return s;
}

}  // namespace pitwall
