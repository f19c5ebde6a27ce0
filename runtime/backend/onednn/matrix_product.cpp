#include "runtime/backend/onednn/matrix_product.h"

namespace pitwall::onednn {
namespace {

using MatMul = dnnl::matmul::primitive_desc;

Desc matrices(const MatrixProduct& p, std::int64_t rows, std::int64_t columns, bool transposed) {
  const std::int64_t row_step = transposed ? 1 : columns, column_step = transposed ? rows : 1;
  const auto f32 = dnnl::memory::data_type::f32;
  if (p.batch == 1) return {{rows, columns}, f32, Dims{row_step, column_step}};
  return {{p.batch, rows, columns}, f32, Dims{rows * columns, row_step, column_step}};
}

MatMul describe(const Request& r, const MatrixProduct& p) {
  return {{matrices(p, p.rows, p.inner, p.left.transposed),
           matrices(p, p.inner, p.columns, p.right.transposed), matrices(p, p.rows, p.columns, false)},
          userScratchpad(),
          r.engine};
}

void addProduct(PrimitiveKernel& kernel, const MatMul& pd, const MatrixProduct& p, std::size_t output) {
  kernel.addStep(dnnl::matmul(pd), pd.scratchpad_desc(),
                 {{DNNL_ARG_SRC, pd.src_desc(), inputAt(p.left.array)},
                  {DNNL_ARG_WEIGHTS, pd.weights_desc(), inputAt(p.right.array)},
                  {DNNL_ARG_DST, pd.dst_desc(), outputAt(output)}});
}

}  // namespace

KernelPtr matrixProducts(const MatrixFactors& factors, const Request& r) {
  const bool backward = r.pass == Pass::backward;
  const MatrixProduct first = backward ? factors.gradientOfA() : factors.product();
  const MatMul pd = describe(r, first);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  addProduct(*kernel, pd, first, 0);
  if (backward) {
    const MatrixProduct second = factors.gradientOfB();
    addProduct(*kernel, describe(r, second), second, 1);
  }
  return kernel;
}

}  // namespace pitwall::onednn
