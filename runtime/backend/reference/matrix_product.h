// Products of matrices as sums in double.
#pragma once

#include "runtime/backend/support/function_kernel.h"
#include "runtime/backend/support/matrix_product.h"

namespace pitwall::reference {

inline void multiply(const MatrixProduct& p, const KernelArgs& a, float* out) {
  const auto element = [](const MatrixProduct::Factor& f, const float* values, std::int64_t row,
                          std::int64_t column, std::int64_t rows, std::int64_t columns) {
    return static_cast<double>(values[f.transposed ? column * rows + row : row * columns + column]);
  };
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const float *left = input(a, p.left.array) + b * p.rows * p.inner,
                *right = input(a, p.right.array) + b * p.inner * p.columns;
    for (std::int64_t i = 0; i < p.rows; ++i) {
      for (std::int64_t j = 0; j < p.columns; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < p.inner; ++k)
          sum += element(p.left, left, i, k, p.rows, p.inner) *
                 element(p.right, right, k, j, p.inner, p.columns);
        *out++ = static_cast<float>(sum);
      }
    }
  }
}

inline RunFunction matrixProducts(const MatrixFactors& f, Pass pass) {
  if (pass != Pass::backward)
    return [p = f.product()](const KernelArgs& a) { return multiply(p, a, output(a, 0)), Status{}; };
  return [da = f.gradientOfA(), db = f.gradientOfB()](const KernelArgs& a) {
    multiply(da, a, output(a, 0));
    multiply(db, a, output(a, 1));
    return Status{};
  };
}

}  // namespace pitwall::reference
