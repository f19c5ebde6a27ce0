// Rows are copied, or their gradients added in the order of the indices. A thread adds to its own rows of the data, so the sum
// does not depend on the number of threads.
#pragma once

#include "db/try.h"
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/support/selected_rows.h"

namespace pitwall::cpu_kernels {

inline void copySelectedRows(const SelectedRows& s, Split split, const float* indices, const float* data,
                             float* out) {
  parallelFor(s.e.outer * s.indices, split, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t from = s.rowOf(row / s.indices, indices[row % s.indices]);
      std::copy_n(data + from * s.e.inner, s.e.inner, out + row * s.e.inner);
    }
  });
}

inline void addSelectedRows(const SelectedRows& s, Split split, const float* indices, const float* dout,
                            float* ddata) {
  parallelFor(s.e.outer * s.e.count, split, [=](std::int64_t begin, std::int64_t end) {
    std::fill(ddata + begin * s.e.inner, ddata + end * s.e.inner, 0.0F);
    for (std::int64_t block = begin / s.e.count; block * s.e.count < end; ++block) {
      for (std::int64_t j = 0; j < s.indices; ++j) {
        const std::int64_t row = s.rowOf(block, indices[j]);
        if (row < begin || row >= end) continue;
        const float* from = dout + (block * s.indices + j) * s.e.inner;
        float* to = ddata + row * s.e.inner;
#pragma omp simd
        for (std::int64_t i = 0; i < s.e.inner; ++i) to[i] += from[i];
      }
    }
  });
}

inline RunFunction selectRows(const SelectedRows& rows, const SelectedRows::Arrays& at, const Request& r) {
  return [rows, at, backward = r.pass == Pass::backward,
          parallel_from = r.options.parallel_elements](const KernelArgs& a) -> Status {
    const float* indices = input(a, at.indices);
    PITWALL_TRY(rows.check(indices));
    const Split split = Split::ofRows(parallel_from, rows.e.inner, a);
    if (backward)
      addSelectedRows(rows, split, indices, input(a, at.dout), output(a, 0));
    else
      copySelectedRows(rows, split, indices, input(a, at.data), output(a, 0));
    return {};
  };
}

}  // namespace pitwall::cpu_kernels
