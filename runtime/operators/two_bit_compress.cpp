#include "runtime/operators/two_bit_compress.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/signature.h"
#include "runtime/backend/support/two_bit.h"

namespace pitwall {

constinit const OperatorKind TwoBitCompressDesc::kKind =
    OperatorKind::of<TwoBitCompressDesc>("TwoBitCompress");

Result<Signature> TwoBitCompressDesc::infer(const ShapeQuery& q) const {
  if (q.pass != Pass::forward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(1));
  if (!(threshold > 0)) return q.wrong(fmt::format("threshold {}: must be greater than 0", threshold));
  Signature s = q.signature({Shape{twoBitBytes(q.shape(0).elements())}, q.shape(0)});
  s.outputs[0].dtype = DType::uint8;
  s.outputs[1].dtype = DType::float32;
  return s;
}

}  // namespace pitwall
