// The operator that rearranges an array; call.cpp pushes it where a kernel needs another layout.
#include "runtime/operators/reorder.h"

#include "db/try.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {

constinit const OperatorKind ReorderDesc::kKind =
    OperatorKind::of<ReorderDesc>("Reorder", {}, {.value = true});

Result<Signature> ReorderDesc::infer(const ShapeQuery& q) const {
  if (q.pass != Pass::forward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(1));
  Signature s = q.signature({q.shape(0)});
  s.outputs[0].dtype = q.inputs[0].dtype;
  return s;
}

}  // namespace pitwall
