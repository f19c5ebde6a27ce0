// Products of parts of arrays of float32, such as one step's rows of a sequence. A library computes them, or plain loops.
#pragma once

#include "runtime/backend/gpu_kernels/products.h"

namespace pitwall::gpu_kernels {

// out (rows x columns) = left (rows x inner) right (inner x columns) + beta * out. Rows in memory are a step apart, of a
// transposed factor its other extent.
struct StridedProduct {
  bool transpose_left, transpose_right;
  std::int64_t rows, columns, inner;
  std::int64_t step_left, step_right, step_out;
  float beta;
  bool operator==(const StridedProduct&) const = default;
};

class StridedProducts {
 public:
  virtual ~StridedProducts() = default;
  // What a product needs while it runs: the workspace of the context.
  virtual Bytes workspaceBytes() const = 0;
  // On the stream of the context. Errors: those of the library.
  virtual Status multiply(const KernelContext& context, const StridedProduct& product, const float* left,
                          const float* right, float* out) const = 0;
};

template <class L>
class PlainProducts final : public StridedProducts {
 public:
  Bytes workspaceBytes() const override { return 0; }
  Status multiply(const KernelContext& context, const StridedProduct& p, const float* left,
                  const float* right, float* out) const override {
    L launch(context);
    launch.each(p.rows * p.columns, Product{p.rows,
                                            p.columns,
                                            p.inner,
                                            p.transpose_left ? 1 : p.step_left,
                                            p.transpose_left ? p.step_left : 1,
                                            p.transpose_right ? 1 : p.step_right,
                                            p.transpose_right ? p.step_right : 1,
                                            left,
                                            right,
                                            nullptr,
                                            out,
                                            {},
                                            p.step_out,
                                            p.beta});
    return launch.status();
  }
};

}  // namespace pitwall::gpu_kernels
