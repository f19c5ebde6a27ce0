// What products ask of cuBLASLt, computed as it would be.
#include "runtime/backend/cuda/cublas_product.h"

#include <gmock/gmock.h>

#include <numeric>
#include <random>
#include <vector>

#include "runtime/backend/gpu_kernels/rnn.h"

namespace pitwall::cuda::cublas_product_test {
namespace {

using testing::FloatNear;
using testing::Pointwise;

// Launches as loops.
class Loops {
 public:
  explicit Loops(const KernelContext&) {}
  template <class F>
  void each(std::int64_t n, const F& f) {
    for (std::int64_t i = 0; i < n; ++i) f(i);
  }
  Status status() const { return {}; }
};

// cuBLASLt's meaning of a matrix: element (row, column) of op(M) is `step` numbers from its neighbour in the next column.
float at(const std::vector<float>& values, const CublasMatrix& m, bool transposed, std::int64_t row,
         std::int64_t column) {
  if (transposed) std::swap(row, column);
  EXPECT_LT(row, m.rows);
  EXPECT_LT(column, m.columns);
  EXPECT_GE(m.step, m.rows);
  return values.at(static_cast<std::size_t>(column * m.step + row));
}

// out = op(right) op(left) + beta out
void multiplyAsCublas(const ProductProblem& problem, const std::vector<float>& left,
                      const std::vector<float>& right, std::vector<float>& out) {
  const CublasMatrices m = CublasMatrices::of(problem);
  const MatrixProduct& p = problem.factors;
  const std::int64_t inner = p.right.transposed ? m.right.rows : m.right.columns;
  for (std::int64_t column = 0; column < m.out.columns; ++column) {
    for (std::int64_t row = 0; row < m.out.rows; ++row) {
      float sum = 0;
      for (std::int64_t k = 0; k < inner; ++k)
        sum +=
            at(right, m.right, p.right.transposed, row, k) * at(left, m.left, p.left.transposed, k, column);
      float& to = out.at(static_cast<std::size_t>(column * m.out.step + row));
      to = sum + problem.beta * to;
    }
  }
}

std::vector<float> noise(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> between(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = between(random);
  return values;
}

void expectPlain(const gpu_kernels::StridedProduct& p) {
  SCOPED_TRACE(testing::Message() << p.rows << " x " << p.columns << " of " << p.inner << ", transposed "
                                  << p.transpose_left << ", " << p.transpose_right);
  const std::vector<float> left = noise(p.step_left * std::max(p.rows, p.inner), 1),
                           right = noise(p.step_right * std::max(p.columns, p.inner), 2);
  std::vector<float> expected = noise(p.step_out * p.rows, 3), found = expected;
  ASSERT_TRUE(gpu_kernels::PlainProducts<Loops>()
                  .multiply({}, p, left.data(), right.data(), expected.data())
                  .has_value());
  multiplyAsCublas(ProductProblem::of(p, {}), left, right, found);
  EXPECT_THAT(found, Pointwise(FloatNear(1e-5F), expected));
}

TEST(CublasProduct, EveryTranspositionAndStep) {
  for (const bool left : {false, true}) {
    for (const bool right : {false, true}) {
      const std::int64_t of_left = left ? 3 : 5, of_right = right ? 5 : 4;
      expectPlain({left, right, 3, 4, 5, of_left, of_right, 4, 0});
      expectPlain({left, right, 3, 4, 5, of_left + 2, of_right + 3, 4 + 1, 0.5F});
    }
  }
}

TEST(CublasProduct, ThoseOfRecurrentNetworks) {
  for (const RnnDesc& desc : {RnnDesc{.hidden = 4, .layers = 2},
                              RnnDesc{.type = RnnType::gru, .bidirectional = true, .hidden = 3}}) {
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      const gpu_kernels::RnnProducts products{{desc, 5, 2, 6}};
      EXPECT_GE(products.of(pass).size(), 3U);
      for (const gpu_kernels::StridedProduct& p : products.of(pass)) expectPlain(p);
    }
  }
}

TEST(CublasProduct, TheAlignmentIsThatOfEveryPart) {
  const auto alignment = [](std::int64_t hidden, std::int64_t columns) {
    return gpu_kernels::RnnProducts{{RnnDesc{.hidden = hidden}, 5, 2, columns}}.alignment();
  };
  EXPECT_EQ(alignment(256, 128), 64);
  EXPECT_EQ(alignment(256, 6), 8);
  EXPECT_EQ(alignment(3, 128), 4);
}

}  // namespace
}  // namespace pitwall::cuda::cublas_product_test
