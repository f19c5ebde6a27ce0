// Splits a range among OpenMP threads, unless it is short.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace pitwall::cpu_kernels {

// Calls body(begin, end) for parts of [0, count), from one thread or several. Parts begin at multiples of 16,
// so that no two threads write to one cache line of floats.
template <class Body>
void parallelFor(std::int64_t count, std::int64_t parallel_from, Body body) {
  const std::int64_t threads = count < parallel_from ? 1 : omp_get_max_threads();
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
