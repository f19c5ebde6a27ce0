#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/rnn_kernel.h"

namespace pitwall::reference {
namespace {

struct SimpleProduct {
  static void multiply(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
                       const float* a, std::int64_t step_a, const float* b, std::int64_t step_b, float beta,
                       float* c, std::int64_t step_c) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = beta == 0 ? 0 : static_cast<double>(beta) * static_cast<double>(c[i * step_c + j]);
        for (std::int64_t l = 0; l < k; ++l)
          sum += static_cast<double>(a[transpose_a ? l * step_a + i : i * step_a + l]) *
                 static_cast<double>(b[transpose_b ? j * step_b + l : l * step_b + j]);
        c[i * step_c + j] = static_cast<float>(sum);
      }
    }
  }
};

}  // namespace

RunFunction make(const RnnDesc& desc, Pass pass, Signature& s) {
  return rnnFunction<SimpleProduct>(desc, pass, s);
}

}  // namespace pitwall::reference
