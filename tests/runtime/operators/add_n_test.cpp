#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::add_n_test {
namespace {

using testing::HasSubstr;

class AddN : public ConformanceCheck {
 protected:
  // Row-major, and with the arrays of `blocked` (bits) in the layout of a convolution.
  void check(int count, const Shape& shape, unsigned blocked) {
    std::vector<Array> plain, arranged;
    for (int i = 0; i < count; ++i) {
      plain.push_back(random(shape));
      const bool block = (blocked >> i & 1U) != 0;
      arranged.push_back(
          reordered(*onednn_, plain.back(), block ? blockedLayout(*onednn_, shape) : LayoutPtr()));
    }
    const AddNDesc desc{count};
    compare({.desc = desc, .inputs = plain}, {.desc = desc, .inputs = arranged}, 1e-6F);
    compare({.desc = desc, .pass = Pass::inference, .inputs = plain},
            {.desc = desc, .pass = Pass::inference, .inputs = arranged}, 1e-6F);
  }
};

TEST_F(AddN, BackendsAgree) {
  for (const int count : {1, 2, 3, 9}) {
    check(count, {3}, 0);
    check(count, {70, 301}, 0);
    check(count, {}, 0);
  }
  for (const unsigned blocked : {1U, 2U, 6U, 7U}) {
    check(3, {2, 16, 5, 3}, blocked);
    check(3, {2, 17, 5, 3}, blocked);
  }
}

TEST_F(AddN, ByHand) {
  const Pair out =
      compare({.desc = AddNDesc{3},
               .inputs = {makeArray({2}, {1, 2}), makeArray({2}, {10, 20}), makeArray({2}, {100, 200})}});
  EXPECT_EQ(rowMajorValues(*reference_, out.reference.outputs.at(0)), (std::vector<float>{111, 222}));
}

TEST_F(AddN, MistakesAreMessages) {
  EXPECT_THAT(failureOf(*reference_, AddNDesc{2}, Pass::forward, {{2, 3}, {3, 2}}),
              HasSubstr("data has shape 3x2, must be 2x3"));
  EXPECT_THAT(failureOf(*reference_, AddNDesc{0}, Pass::forward, {}), HasSubstr("0 inputs"));
  EXPECT_THAT(failureOf(*reference_, AddNDesc{3}, Pass::forward, {{2}, {2}}),
              HasSubstr("takes 3 arrays, 2 given"));
  EXPECT_THAT(failureOf(*reference_, AddNDesc{2}, Pass::backward, {{2}, {2}}), HasSubstr("no such pass"));
}

class AddNGradient : public GradientCheck {};

TEST_P(AddNGradient, OfTheCall) {
  const auto session = openSession(GetParam());
  ASSERT_NE(session, nullptr);
  checkGradients(*session, {"three", {{2, 3}, {2, 3}, {2, 3}}, [](Arrays& a) { return op::addN(a); }});
  checkGradients(*session, {"an array twice", {{2, 3}}, [](Arrays& a) {
                              const NDArray twice[] = {a[0], a[0]};
                              return op::addN(twice);
                            }});
}

INSTANTIATE_TEST_SUITE_P(Backends, AddNGradient, testing::Values("reference", "onednn"), namesOf());

TEST(AddNCall, NoArrayIsAMessage) {
  const auto result = op::addN({});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr("add_n: no array is given"));
}

}  // namespace
}  // namespace pitwall::test::add_n_test
