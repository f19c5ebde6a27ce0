// Rows are copied, or their gradients added in double.
#pragma once

#include "db/try.h"
#include "runtime/backend/support/function_kernel.h"
#include "runtime/backend/support/selected_rows.h"

namespace pitwall::reference {

// Calls visit(index of the data, index of the output).
template <class Visit>
void selectedElements(const SelectedRows& s, const float* indices, Visit visit) {
  for (std::int64_t block = 0; block < s.e.outer; ++block) {
    for (std::int64_t j = 0; j < s.indices; ++j) {
      for (std::int64_t i = 0; i < s.e.inner; ++i)
        visit(s.rowOf(block, indices[j]) * s.e.inner + i, (block * s.indices + j) * s.e.inner + i);
    }
  }
}

inline RunFunction selectRows(const SelectedRows& rows, const SelectedRows::Arrays& at, Pass pass) {
  if (pass != Pass::backward)
    return [rows, at](const KernelArgs& a) -> Status {
      PITWALL_TRY(rows.check(input(a, at.indices)));
      selectedElements(rows, input(a, at.indices), [&](std::int64_t data, std::int64_t out) {
        output(a, 0)[out] = input(a, at.data)[data];
      });
      return {};
    };
  return [rows, at](const KernelArgs& a) -> Status {
    PITWALL_TRY(rows.check(input(a, at.indices)));
    std::vector<double> sums(static_cast<std::size_t>(rows.e.outer * rows.e.count * rows.e.inner));
    selectedElements(rows, input(a, at.indices), [&](std::int64_t data, std::int64_t out) {
      sums[static_cast<std::size_t>(data)] += static_cast<double>(input(a, at.dout)[out]);
    });
    for (std::size_t i = 0; i < sums.size(); ++i) output(a, 0)[i] = static_cast<float>(sums[i]);
    return {};
  };
}

}  // namespace pitwall::reference
