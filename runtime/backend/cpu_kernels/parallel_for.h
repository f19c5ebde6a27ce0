// Splits a range among OpenMP threads, unless it is short.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/backend.h"

namespace pitwall::cpu_kernels {

// When and how far a loop is split.
struct Split {
  std::int64_t parallel_from;  // elements; fewer use the calling thread only
  int threads;                 // at most

  Split(std::int64_t from, const KernelArgs& args) : parallel_from(from), threads(args.context.threads) {}
};

// Calls body(begin, end) for parts of [0, count), from one thread or several. Parts begin at multiples of 16,
// so that no two threads write to one cache line of floats.
template <class Body>
void parallelFor(std::int64_t count, Split split, Body body) {
  const std::int64_t threads = count < split.parallel_from ? 1 : split.threads;
  if (threads <= 1) {
    body(std::int64_t{0}, count);
    return;
  }
  const std::int64_t share = ((count + threads - 1) / threads + 15) / 16 * 16;
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(threads))
  for (std::int64_t t = 0; t < threads; ++t) {
    const std::int64_t begin = std::min(count, t * share), end = std::min(count, begin + share);
    if (begin < end) body(begin, end);
  }
}

}  // namespace pitwall::cpu_kernels
