#include "runtime/kvstore/sum.h"

#include <algorithm>
#include <cstring>

#include "runtime/kvstore/parts.h"

namespace pitwall::kvstore {
namespace {

constexpr std::int64_t kBlock =
    4096;  // elements: 5 arrays of them fit into the first-level cache with room to spare

// Up to four inputs at once: the output is written once for them.
void addFour(const float* a, const float* b, const float* c, const float* d, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i] + c[i] + d[i];
}
void addThree(const float* a, const float* b, const float* c, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i] + c[i];
}
void addTwo(const float* a, const float* b, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

// The elements from `at` on.
void sumBlock(std::span<const float* const> inputs, float* out, std::int64_t at, std::int64_t n) {
  float* const to = out + at;
  const float* sum = inputs[0] + at;  // of those before `next`
  std::size_t next = 1;
  while (next < inputs.size()) {
    const std::size_t left = inputs.size() - next;
    const auto input = [&](std::size_t i) { return inputs[next + i] + at; };
    if (left >= 3) {
      addFour(sum, input(0), input(1), input(2), to, n);
      next += 3;
    } else if (left == 2) {
      addThree(sum, input(0), input(1), to, n);
      next += 2;
    } else {
      addTwo(sum, input(0), to, n);
      next += 1;
    }
    sum = to;
  }
  if (sum != to) std::memcpy(to, sum, static_cast<std::size_t>(n) * sizeof(float));
}
}  // namespace

void sumArrays(std::span<const float* const> inputs, float* output, std::int64_t count, SumThreads threads) {
  if (inputs.size() == 1 && inputs[0] != output) return copyArray(inputs[0], output, count, threads);
  inParts(count, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kBlock)
      sumBlock(inputs, output, at, std::min(kBlock, end - at));
  });
}

void copyArray(const float* from, float* to, std::int64_t count, SumThreads threads) {
  inParts(count, threads, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin) * sizeof(float));
  });
}

}  // namespace pitwall::kvstore
