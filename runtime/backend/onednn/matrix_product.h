// Products of matrices.
#pragma once

#include "runtime/backend/onednn/primitive_kernel.h"
#include "runtime/backend/support/matrix_product.h"

namespace pitwall::onednn {

// The product, or both gradients, of row-major arrays.
KernelPtr matrixProducts(const MatrixFactors& factors, const Request& request);

}  // namespace pitwall::onednn
