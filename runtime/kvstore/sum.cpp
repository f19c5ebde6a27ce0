#include "runtime/kvstore/sum.h"

#include <algorithm>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "runtime/kvstore/parts.h"

namespace pitwall::kvstore {
namespace {

constexpr std::int64_t kBlock =
    4096;  // elements: 5 arrays of them fit into the first-level cache with room to spare

// The elements from `at` on. Up to four inputs at once: the output is written once for them.
[[gnu::always_inline]] inline void sumBlock(std::span<const float* const> inputs, float* output,
                                            std::int64_t at, std::int64_t n) {
  float* const to = output + at;
  const float* sum = inputs[0] + at;  // of those before `next`
  std::size_t next = 1;
  while (next < inputs.size()) {
    const std::size_t left = inputs.size() - next;
    const float* const a = inputs[next] + at;
    const float* const b = left > 1 ? inputs[next + 1] + at : nullptr;
    const float* const c = left > 2 ? inputs[next + 2] + at : nullptr;
    if (left > 2) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = sum[i] + a[i] + b[i] + c[i];
    } else if (left == 2) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = sum[i] + a[i] + b[i];
    } else {
      for (std::int64_t i = 0; i < n; ++i) to[i] = sum[i] + a[i];
    }
    next += std::min<std::size_t>(left, 3);
    sum = to;
  }
  if (sum != to) std::memcpy(to, sum, static_cast<std::size_t>(n) * sizeof(float));
}

[[gnu::always_inline]] inline void sumPart(std::span<const float* const> inputs, float* output,
                                           std::int64_t begin, std::int64_t end) {
  for (std::int64_t at = begin; at < end; at += kBlock)
    sumBlock(inputs, output, at, std::min(kBlock, end - at));
}

using SumPart = void (*)(std::span<const float* const>, float*, std::int64_t, std::int64_t);

void sumPartPlain(std::span<const float* const> inputs, float* output, std::int64_t begin, std::int64_t end) {
  sumPart(inputs, output, begin, end);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) void sumPartAvx2(std::span<const float* const> inputs, float* output,
                                                 std::int64_t begin, std::int64_t end) {
  sumPart(inputs, output, begin, end);
}

__attribute__((target("avx512f"))) void sumPartAvx512(std::span<const float* const> inputs, float* output,
                                                      std::int64_t begin, std::int64_t end) {
  sumPart(inputs, output, begin, end);
}
#endif

// The same sums, by the widest vectors of this CPU.
SumPart widestSum() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return sumPartAvx512;
  if (__builtin_cpu_supports("avx2")) return sumPartAvx2;
#endif
  return sumPartPlain;
}

}  // namespace

void sumArrays(std::span<const float* const> inputs, float* output, std::int64_t count, SumThreads threads) {
  if (inputs.size() == 1 && inputs[0] != output) return copyArray(inputs[0], output, count, threads);
  static const SumPart kSum = widestSum();
  inParts(count, threads, [&](std::int64_t begin, std::int64_t end) { kSum(inputs, output, begin, end); });
}

void copyPastCaches(const float* from, float* to, std::int64_t count) {
#ifdef __x86_64__
  constexpr std::int64_t kLine = 16;  // elements
  std::int64_t i = 0;
  while (i < count && reinterpret_cast<std::uintptr_t>(to + i) % 64 != 0) {
    to[i] = from[i];
    ++i;
  }
  for (; i + kLine <= count; i += kLine)
    for (std::int64_t part = i; part < i + kLine; part += 4)
      _mm_stream_ps(to + part, _mm_loadu_ps(from + part));
  for (; i < count; ++i) to[i] = from[i];
  _mm_sfence();
#else
  std::copy_n(from, count, to);
#endif
}

void copyArray(const float* from, float* to, std::int64_t count, SumThreads threads) {
  inParts(count, threads, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin) * sizeof(float));
  });
}

}  // namespace pitwall::kvstore
