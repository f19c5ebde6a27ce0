#include "runtime/kvstore/sum.h"

#include <unistd.h>

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
// The sum of kInputs arrays, written past the caches: a store into a cache would first read the line from memory. Precondition:
// output + begin is aligned to 16 bytes.
template <std::size_t kInputs>
void sumPastCaches(std::span<const float* const> inputs, float* output, std::int64_t begin,
                   std::int64_t end) {
  const float* from[kInputs];
  std::copy_n(inputs.begin(), kInputs, from);
  std::int64_t i = begin;
  for (; i + 4 <= end; i += 4) {
    __m128 sum = _mm_loadu_ps(from[0] + i);
    for (std::size_t k = 1; k < kInputs; ++k) sum = _mm_add_ps(sum, _mm_loadu_ps(from[k] + i));
    _mm_stream_ps(output + i, sum);
  }
  _mm_sfence();
  sumPart(inputs, output, i, end);
}

// Whether the arrays push each other out of the largest cache.
bool areLarge(std::size_t arrays, std::int64_t count) {
  static const std::int64_t kCache =
      std::max<std::int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), std::int64_t{1} << 22);
  return static_cast<std::int64_t>(arrays * sizeof(float)) * count > 2 * kCache;
}

__attribute__((target("avx2"))) void sumPartAvx2(std::span<const float* const> inputs, float* output,
                                                 std::int64_t begin, std::int64_t end) {
  sumPart(inputs, output, begin, end);
}

__attribute__((target("avx512f"))) void sumPartAvx512(std::span<const float* const> inputs, float* output,
                                                      std::int64_t begin, std::int64_t end) {
  sumPart(inputs, output, begin, end);
}
#endif

// nullptr: the sum stays in the caches, or has more arrays than one pass takes.
SumPart sumPastCachesOf(std::span<const float* const> inputs, const float* output, std::int64_t count) {
#ifdef __x86_64__
  const bool aligned = reinterpret_cast<std::uintptr_t>(output) % 16 == 0;
  if (!aligned || !areLarge(inputs.size() + 1, count) || std::ranges::find(inputs, output) != inputs.end())
    return nullptr;
  if (inputs.size() == 2) return sumPastCaches<2>;
  if (inputs.size() == 3) return sumPastCaches<3>;
  if (inputs.size() == 4) return sumPastCaches<4>;
#else
  (void)inputs, (void)output, (void)count;
#endif
  return nullptr;
}

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
  static const SumPart kWidest = widestSum();
  const SumPart past = sumPastCachesOf(inputs, output, count);
  const SumPart sum = past != nullptr ? past : kWidest;
  inParts(count, threads, [&](std::int64_t begin, std::int64_t end) { sum(inputs, output, begin, end); });
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
