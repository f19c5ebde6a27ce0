// Rows are copied, or their gradients added: a thread adds to its own rows, so the sum does not depend on their number.
#include "db/try.h"
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/support/indices.h"

namespace pitwall::cpu_kernels {
namespace {

void copyRows(const EmbeddingDesc& d, std::int64_t n, Split split, const float* indices, const float* weight,
              float* out) {
  parallelFor(n, split, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      std::copy_n(weight + static_cast<std::int64_t>(indices[i]) * d.width, d.width, out + i * d.width);
  });
}

void addToRows(const EmbeddingDesc& d, std::int64_t n, Split split, const float* indices, const float* dout,
               float* dweight) {
  parallelFor(d.vocabulary, split, [&](std::int64_t begin, std::int64_t end) {
    std::fill(dweight + begin * d.width, dweight + end * d.width, 0.0F);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto row = static_cast<std::int64_t>(indices[i]);
      if (row < begin || row >= end) continue;
      const float* from = dout + i * d.width;
      float* to = dweight + row * d.width;
#pragma omp simd
      for (std::int64_t j = 0; j < d.width; ++j) to[j] += from[j];
    }
  });
}

}  // namespace

RunFunction make(const EmbeddingDesc& desc, const Request& r, Signature& s) {
  const std::int64_t n = s.inputs[0].shape.elements(),
                     parallel_from = r.options.parallel_elements / desc.width;
  const auto compute = r.pass == Pass::backward ? addToRows : copyRows;
  return [=](const KernelArgs& a) -> Status {
    PITWALL_TRY(checkIndices("Embedding", input(a, 0), n, desc.vocabulary));
    compute(desc, n, {parallel_from, a}, input(a, 0), input(a, 1), output(a, 0));
    return {};
  };
}

}  // namespace pitwall::cpu_kernels
