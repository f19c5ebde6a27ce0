#include "runtime/backend/reference/operators.h"
#include "runtime/backend/reference/selected_rows.h"

namespace pitwall::reference {

RunFunction make(const EmbeddingDesc& desc, Pass pass, Signature& s) {
  const AxisExtents extents{1, desc.vocabulary, desc.width};
  return selectRows({"Embedding", TakeMode::raise, extents, s.inputs[0].shape.elements()},
                    {.data = 1, .indices = 0, .dout = 1}, pass);
}

}  // namespace pitwall::reference
