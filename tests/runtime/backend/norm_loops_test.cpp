// The loops of each instruction set that this processor has give the same.
#include "runtime/backend/cpu_kernels/norm_loops.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace pitwall::cpu_kernels::norm_loops_test {
namespace {

using Numbers = std::vector<float>;

Numbers randomNumbers(std::size_t count, std::mt19937& random) {
  Numbers values(count);
  for (float& value : values) value = std::uniform_real_distribution<float>(-1, 1)(random);
  return values;
}

// What all stages make of the groups: sums, and the arrays that are written.
std::vector<double> resultsOf(NormFunction function, const NormGroups& z, bool relu) {
  std::mt19937 random(5);
  const auto elements = static_cast<std::size_t>(z.rows * z.row_stride);
  const Numbers x = randomNumbers(elements, random), dy = randomNumbers(elements, random);
  Numbers to(elements, 0);
  NormConstants own;
  for (GroupNumbers* numbers : {&own.mean, &own.scale, &own.shift, &own.through, &own.by_normal})
    for (std::size_t lane = 0; lane < numbers->size(); ++lane)
      (*numbers)[lane] = 0.1F + 0.01F * static_cast<float>(z.lanes == 1 ? 0 : lane);
  const NormArrays arrays{x.data(), dy.data(), to.data(), relu ? 0 : -std::numeric_limits<float>::infinity()};
  std::vector<double> results;
  for (const NormStage stage :
       {NormStage::sumDifferences, NormStage::normalise, NormStage::sumSlopes, NormStage::slope}) {
    for (std::int64_t group = 0; group < z.groups; ++group) {
      NormSums sums;
      function({stage, z, {group, 0, z.rows - 1}, arrays, own, sums});
      function({stage, z, {group, z.rows - 1, z.rows}, arrays, own, sums});
      double first = 0, second = 0;
      for (std::size_t lane = 0; lane < sums.first.size(); ++lane) {
        first += sums.first[lane];
        second += sums.second[lane];
        if (z.lanes == 1) continue;
        results.insert(results.end(), {first, second});
        first = second = 0;
      }
      results.insert(results.end(), {first, second});
    }
    results.insert(results.end(), to.begin(), to.end());
  }
  return results;
}

TEST(NormLoops, AllInstructionSetsAgree) {
  const NormGroups groups[] = {
      {3, 5, 5 * 49, 49, 49, 1, 5},           // one channel after the other
      {2, 3, 3 * 8 * 30, 8 * 30, 30, 8, 19},  // blocks of 8, the last with padding
      {3, 2, 2 * 16 * 600, 16 * 600, 600, 16, 32},
      {50, 2, 100, 64, 1, 64, 100},  // channels last, the last group with vectors and single channels
      {40, 1, 7, 7, 1, 7, 7},
  };
  const std::vector<NormFunction> functions = normFunctions();
  for (const NormGroups& z : groups) {
    for (const bool relu : {false, true}) {
      const std::vector<double> expected = resultsOf(functions.back(), z, relu);
      for (const NormFunction function : functions) {
        const std::vector<double> found = resultsOf(function, z, relu);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)
          ASSERT_NEAR(found[i], expected[i], 1e-4 * (1 + std::abs(expected[i])))
              << z.lanes << " lanes, " << i;
      }
    }
  }
}

}  // namespace
}  // namespace pitwall::cpu_kernels::norm_loops_test
