// Compression of gradients to 2 bits, as operators of a backend.
#include "runtime/backend/support/two_bit.h"

#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::two_bit_test {
namespace {

using testing::HasSubstr;

class TwoBitOperators : public ConformanceCheck {
 protected:
  // Of both backends, which must agree on them; compare() takes numbers of 8 bits for workspaces.
  Pair compress(const TwoBitCompressDesc& desc, const Array& gradient, const Array& residual) {
    Pair made = compare({.desc = desc, .inputs = {gradient}, .outputs = {{}, residual}});
    EXPECT_TRUE(made.onednn.kernel == nullptr || bytesOf(made.onednn) == bytesOf(made.reference))
        << gradient.spec.shape.toString();
    return made;
  }
  static std::vector<unsigned> bytesOf(const Answer& made) {
    const Array& codes = made.outputs.at(0);
    std::vector<unsigned> bytes;
    for (std::int64_t i = 0; i < codes.spec.shape.elements(); ++i)
      bytes.push_back(static_cast<unsigned>(codes.bytes.get()[i]));
    return bytes;
  }
};

TEST_F(TwoBitOperators, BackendsAgree) {
  for (const std::int64_t count : {1, 4, 17, 1003}) {
    const Array gradient = random({count}), residual = random({count});
    std::vector<Array> codes;
    for (const float threshold : {0.5F, 0.1F})
      codes.push_back(compress({threshold}, gradient, residual).reference.outputs.at(0));
    // More than a kernel takes at once.
    for (int i = 0; i < 10; ++i) codes.push_back(codes[0]);
    compare({.desc = TwoBitSumDesc{0.25F}, .inputs = codes, .like = &gradient.spec});
  }
}

TEST_F(TwoBitOperators, ByHand) {
  // +t, -t, 0, +t | 0
  const Pair made =
      compress({0.5F}, makeArray({5}, {0.5F, -0.5F, 0, 1, 0.25F}), makeArray({5}, {0, 0, 0.25F, 1, 0}));
  EXPECT_EQ(bytesOf(made.reference), (std::vector<unsigned>{0b11100011, 0, 0, 0}));
  EXPECT_EQ(made.onednn.outputs.at(1).floats()[3], 1.5F);
  const TensorSpec like{{5}};
  const Array& codes = made.reference.outputs.at(0);
  const Pair sum = compare({.desc = TwoBitSumDesc{0.5F}, .inputs = {codes, codes}, .like = &like});
  EXPECT_EQ(rowMajorValues(*onednn_, sum.onednn.outputs.at(0)), (std::vector<float>{1, -1, 0, 1, 0}));
}

TEST_F(TwoBitOperators, MistakesAreMessages) {
  EXPECT_THAT(failureOf(*reference_, TwoBitCompressDesc{0}, Pass::forward, {{4}}),
              HasSubstr("TwoBitCompress forward(4): threshold 0: must be greater than 0"));
  EXPECT_THAT(failureOf(*reference_, TwoBitCompressDesc{}, Pass::backward, {{4}}), HasSubstr("no such pass"));
  EXPECT_THAT(failureOf(*reference_, TwoBitSumDesc{}, Pass::forward, {{4}}),
              HasSubstr("the shape of the sum must be given"));
}

}  // namespace
}  // namespace pitwall::test::two_bit_test
