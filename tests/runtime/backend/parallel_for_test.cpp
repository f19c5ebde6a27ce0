#include "runtime/backend/cpu_kernels/parallel_for.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "db/mutex.h"

namespace pitwall::cpu_kernels::parallel_for_test {
namespace {

using Parts = std::set<std::pair<std::int64_t, std::int64_t>>;

Parts partsOf(std::int64_t count, const Split& split) {
  Parts parts;
  Mutex mutex;
  parallelFor(count, split, [&](std::int64_t begin, std::int64_t end) {
    const ScopedLock lock(mutex);
    parts.emplace(begin, end);
  });
  return parts;
}

KernelArgs threads(int count) { return {.inputs = {}, .outputs = {}, .context = {.threads = count}}; }

TEST(ParallelFor, PartsOfElementsBeginAtCacheLines) {
  EXPECT_EQ(partsOf(100, {1, threads(3)}), (Parts{{0, 48}, {48, 96}, {96, 100}}));
  EXPECT_EQ(partsOf(17, {1, threads(4)}), (Parts{{0, 16}, {16, 17}}));
}

TEST(ParallelFor, RowsAreSplitOneByOne) {
  EXPECT_EQ(partsOf(4, Split::ofRows(1, 1000, threads(4))), (Parts{{0, 1}, {1, 2}, {2, 3}, {3, 4}}));
  EXPECT_EQ(partsOf(5, Split::ofRows(1, 1000, threads(2))), (Parts{{0, 3}, {3, 5}}));
  EXPECT_EQ(partsOf(2, Split::ofRows(1, 1000, threads(8))), (Parts{{0, 1}, {1, 2}}));
}

TEST(ParallelFor, AShortLoopHasOnePart) {
  EXPECT_EQ(partsOf(99, {100, threads(4)}), (Parts{{0, 99}}));
  EXPECT_EQ(partsOf(9, Split::ofRows(100, 10, threads(4))), (Parts{{0, 9}})) << "90 elements";
  EXPECT_EQ(partsOf(10, Split::ofRows(100, 10, threads(2))), (Parts{{0, 5}, {5, 10}})) << "100 elements";
}

}  // namespace
}  // namespace pitwall::cpu_kernels::parallel_for_test
