#include "runtime/backend/onednn/matrix_product.h"
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {

KernelPtr make(const DotDesc& desc, const Request& request) {
  return matrixProducts(desc.factors(request.inputs[0].shape, request.inputs[1].shape), request);
}

}  // namespace pitwall::onednn
