// The matrix products of dot and batch_dot, and those of their gradients.
#pragma once

#include <cstdint>

namespace pitwall {

// out (rows x columns) = left (rows x inner) * right (inner x columns), of each matrix of a batch. A factor is input `array` of
// the pass; transposed: its memory holds the other extent first.
struct MatrixProduct {
  struct Factor {
    std::size_t array;
    bool transposed;
  };
  std::int64_t batch, rows, inner, columns;
  Factor left, right;
};

// a is m x k, b k x n, or their memory holds them transposed.
struct MatrixFactors {
  std::int64_t batch, m, k, n;
  bool transpose_a, transpose_b;

  MatrixProduct product() const { return {batch, m, k, n, {0, transpose_a}, {1, transpose_b}}; }
  // The gradients have the memory of a and b; input 2 is that of the product, m x n.
  MatrixProduct gradientOfA() const {
    if (transpose_a) return {batch, k, n, m, {1, transpose_b}, {2, true}};
    return {batch, m, n, k, {2, false}, {1, !transpose_b}};
  }
  MatrixProduct gradientOfB() const {
    if (transpose_b) return {batch, n, m, k, {2, true}, {0, transpose_a}};
    return {batch, k, m, n, {0, !transpose_a}, {2, false}};
  }
};

}  // namespace pitwall
