#include "runtime/backend/reference/matrix_product.h"
#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {

RunFunction make(const BatchDotDesc& desc, Pass pass, Signature& s) {
  return matrixProducts(desc.factors(s.inputs[0].shape, s.inputs[1].shape), pass);
}

}  // namespace pitwall::reference
