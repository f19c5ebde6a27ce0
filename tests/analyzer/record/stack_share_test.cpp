#include <gtest/gtest.h>

#include "analyzer/record/sample/sampler.h"

namespace pitwall::record::stack_share_test {
namespace {

TEST(StackShare, HalfAPercentOfTheCpusAndOfOneAtMostThree) {
  EXPECT_DOUBLE_EQ(SamplerOptions::stackShare(0), 0.005) << "at least one";
  EXPECT_DOUBLE_EQ(SamplerOptions::stackShare(1), 0.005);
  EXPECT_DOUBLE_EQ(SamplerOptions::stackShare(2), 0.01);
  EXPECT_DOUBLE_EQ(SamplerOptions::stackShare(6), 0.03);
  EXPECT_DOUBLE_EQ(SamplerOptions::stackShare(64), 0.03);
}

}  // namespace
}  // namespace pitwall::record::stack_share_test
