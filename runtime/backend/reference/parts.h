// Arrays beside each other along an axis, row by row of the whole.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/backend/support/function_kernel.h"

namespace pitwall::reference {

struct PartsOfRows {
  std::int64_t rows = 1;
  std::vector<std::int64_t> parts = {};  // elements of each in a row

  // Calls visit(part, row, where the part begins in the whole).
  template <class Visit>
  void each(Visit visit) const {
    const std::int64_t whole = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (std::int64_t row = 0; row < rows; ++row) visit(i, row, row * whole + begin);
      begin += parts[i];
    }
  }
};

// Inputs from the first on to output 0.
inline RunFunction joinParts(const PartsOfRows& p) {
  return [p](const KernelArgs& a) {
    p.each([&](std::size_t i, std::int64_t row, std::int64_t at) {
      std::copy_n(input(a, i) + row * p.parts[i], p.parts[i], output(a, 0) + at);
    });
    return Status{};
  };
}

// An input to all outputs.
inline RunFunction separateParts(const PartsOfRows& p, std::size_t whole) {
  return [p, whole](const KernelArgs& a) {
    p.each([&](std::size_t i, std::int64_t row, std::int64_t at) {
      std::copy_n(input(a, whole) + at, p.parts[i], output(a, i) + row * p.parts[i]);
    });
    return Status{};
  };
}

}  // namespace pitwall::reference
