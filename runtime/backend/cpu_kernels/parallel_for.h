// Splits a range among OpenMP threads, unless it is short.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/backend.h"

namespace pitwall::cpu_kernels {

// When and how far a loop is split.
struct Split {
  std::int64_t parallel_from;  // items; fewer use the calling thread only
  int threads;                 // at most
  std::int64_t multiple_of =
      16;  // parts begin at such items; of floats: no two threads write to one cache line

  // A loop over elements.
  Split(std::int64_t from, const KernelArgs& args) : parallel_from(from), threads(args.context.threads) {}
  // A loop over rows, of so many elements each.
  static Split ofRows(std::int64_t parallel_elements, std::int64_t row_elements, const KernelArgs& args) {
    Split split((parallel_elements + row_elements - 1) / row_elements, args);
    split.multiple_of = 1;
    return split;
  }
};

// Calls body(begin, end) for parts of [0, count), from one thread or several.
template <class Body>
void parallelFor(std::int64_t count, Split split, Body body) {
  const std::int64_t multiple = split.multiple_of, units = (count + multiple - 1) / multiple;
  const std::int64_t threads = count < split.parallel_from ? 1 : std::min<std::int64_t>(split.threads, units);
  if (threads <= 1) {
    body(std::int64_t{0}, count);
    return;
  }
  const std::int64_t share = (units + threads - 1) / threads * multiple;
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(threads))
  for (std::int64_t t = 0; t < threads; ++t) {
    const std::int64_t begin = std::min(count, t * share), end = std::min(count, begin + share);
    if (begin < end) body(begin, end);
  }
}

}  // namespace pitwall::cpu_kernels
