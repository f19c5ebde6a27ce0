#include "runtime/operators/two_bit_sum.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/signature.h"
#include "runtime/backend/support/two_bit.h"

namespace pitwall {

constinit const OperatorKind TwoBitSumDesc::kKind =
    OperatorKind::of<TwoBitSumDesc>("TwoBitSum", {}, {.value = true});

Result<Signature> TwoBitSumDesc::infer(const ShapeQuery& q) const {
  if (q.pass != Pass::forward) return q.noSuchPass();
  if (q.inputs.empty()) return q.wrong("takes at least one array of codes");
  if (q.like == nullptr) return q.wrong("the shape of the sum must be given (`like`)");
  if (!(threshold > 0)) return q.wrong(fmt::format("threshold {}: must be greater than 0", threshold));
  const Shape codes{twoBitBytes(q.like->shape.elements())};
  for (std::size_t i = 0; i < q.inputs.size(); ++i) {
    if (q.inputs[i].dtype != DType::uint8)
      return q.wrong(fmt::format("codes {} are {}, must be uint8", i, toString(q.inputs[i].dtype)));
    PITWALL_TRY(q.expectShape(i, codes, "codes"));
  }
  return q.signature({q.like->shape});
}

}  // namespace pitwall
