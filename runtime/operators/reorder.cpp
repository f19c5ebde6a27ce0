// The operator that rearranges an array; call.cpp pushes it where a kernel needs another layout.
#include "runtime/backend/support/signature.h"

namespace pitwall {

Result<Signature> ReorderDesc::infer(const ShapeQuery& q) const {
  if (q.pass != Pass::forward) return q.noSuchPass();
  if (auto ok = q.expectInputs(1); !ok.has_value()) return fail(ok.error());
  return q.signature({q.shape(0)});
}

}  // namespace pitwall
