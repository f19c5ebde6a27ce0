// Work on the elements of an array by several threads.
#pragma once

#include <cstdint>

#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/kvstore/sum_threads.h"

namespace pitwall::kvstore {

// Calls body(begin, end) for parts of [0, count), each of which begins at a multiple of 16.
template <class Body>
void inParts(std::int64_t count, SumThreads threads, Body body) {
  const KernelArgs args{.inputs = {}, .outputs = {}, .context = {.threads = threads.threads}};
  cpu_kernels::parallelFor(count, cpu_kernels::Split(threads.parallel_from, args), body);
}

}  // namespace pitwall::kvstore
