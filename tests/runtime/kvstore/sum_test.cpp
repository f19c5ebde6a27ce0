// Sums of arrays: the same whatever their number, size and place, and whether they fit into a cache.
#include "runtime/kvstore/sum.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace pitwall::test::sum_test {
namespace {

using kvstore::sumArrays;
using Floats = std::vector<float>;

// Element i of array k: a multiple of 1 / 8, so that sums are exact.
Floats numbersOf(std::size_t array, std::int64_t count) {
  Floats values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 7 + array * 13) % 1000) / 8 - 60;
  return values;
}

// `shift`: elements between the output and an aligned place.
void expectSums(std::size_t arrays, std::int64_t count, std::size_t shift) {
  std::vector<Floats> values;
  std::vector<const float*> inputs;
  for (std::size_t k = 0; k < arrays; ++k) values.push_back(numbersOf(k, count));
  for (const Floats& each : values) inputs.push_back(each.data());
  Floats expected(static_cast<std::size_t>(count), 0);
  for (const Floats& each : values)
    std::transform(each.begin(), each.end(), expected.begin(), expected.begin(), std::plus<>());
  constexpr float kBeside = 12345;
  Floats output(shift + expected.size() + 1, kBeside);
  sumArrays(inputs, output.data() + shift, count, {.threads = 2, .parallel_from = 1000});
  EXPECT_TRUE(
      std::equal(expected.begin(), expected.end(), output.begin() + static_cast<std::ptrdiff_t>(shift)))
      << arrays << " arrays of " << count << ", shifted by " << shift;
  EXPECT_EQ(output.back(), kBeside);
  if (shift > 0) {
    EXPECT_EQ(output[shift - 1], kBeside);
  }
  Floats& in_place = values[std::min<std::size_t>(arrays, 4) - 1];
  sumArrays(inputs, in_place.data(), count, {.threads = 2, .parallel_from = 1000});
  EXPECT_TRUE(in_place == expected) << arrays << " arrays of " << count << ", in place";
}

TEST(Sum, OfAnyNumberOfArraysAndElements) {
  for (std::size_t arrays = 1; arrays <= 9; ++arrays)
    for (const std::int64_t count : {1, 3, 15, 16, 17, 4095, 4099, 20011})
      for (const std::size_t shift : {0U, 1U}) expectSums(arrays, count, shift);
}

// Such sums do not stay in the caches.
TEST(Sum, OfArraysThatNoCacheHolds) {
  constexpr std::int64_t kMost = std::int64_t{1} << 28;
  const std::int64_t cache = std::max<std::int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), std::int64_t{1} << 22);
  if (cache > kMost / 2) GTEST_SKIP() << "the largest cache has " << cache << " bytes";
  const std::int64_t floats = 2 * cache / static_cast<std::int64_t>(sizeof(float));
  for (const std::size_t arrays : {2U, 4U})
    expectSums(arrays, floats / static_cast<std::int64_t>(arrays + 1) + 1003, 0);
}

}  // namespace
}  // namespace pitwall::test::sum_test
