#include <limits>

#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::take_test {
namespace {

using testing::HasSubstr;

class Take : public ConformanceCheck {};

TEST_F(Take, BackendsAgree) {
  const std::tuple<Shape, Shape, int> cases[] = {
      {{5}, {3}, 0}, {{4, 6}, {2, 3}, 1}, {{3, 4, 5}, {7}, -2}, {{500, 600}, {400}, 0}};
  for (const auto& [shape, index_shape, axis] : cases) {
    for (const TakeMode mode : {TakeMode::clip, TakeMode::wrap, TakeMode::raise}) {
      const TakeDesc desc{axis, mode};
      const std::int64_t extent = shape[axis < 0 ? axis + shape.rank() : axis];
      std::vector<float> values;
      for (std::int64_t i = 0; i < index_shape.elements(); ++i) {
        const auto number = static_cast<std::int64_t>(random_() % 1000);
        values.push_back(
            static_cast<float>(mode == TakeMode::raise ? number % extent : number % (3 * extent) - extent));
      }
      const Array data = random(shape), indices = makeArray(index_shape, values);
      const Pair out = compare({.desc = desc, .inputs = {data, indices}}, 0);
      if (!out.onednn.kernel) continue;
      compare({.desc = desc,
               .pass = Pass::backward,
               .inputs = {data, indices, random(out.reference.outputs[0].spec.shape)}});
    }
  }
}

TEST_F(Take, ByHand) {
  const Array data = makeArray({2, 3}, {1, 2, 3, 4, 5, 6}), indices = makeArray({4}, {0, 2, -1, 4});
  const auto taken = [&](TakeMode mode) {
    return rowMajorValues(
        *reference_, compare({.desc = TakeDesc{1, mode}, .inputs = {data, indices}}).reference.outputs.at(0));
  };
  EXPECT_EQ(taken(TakeMode::clip), (std::vector<float>{1, 3, 1, 3, 4, 6, 4, 6}));
  EXPECT_EQ(taken(TakeMode::wrap), (std::vector<float>{1, 3, 3, 2, 4, 6, 6, 5}));
}

// Infinite ones are beyond the axis; NaN is element 0.
TEST_F(Take, IndicesThatAreNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Array data = makeArray({3}, {1, 2, 3}),
              indices = makeArray({4}, {infinity, -infinity, std::nanf(""), 1e30F});
  const auto taken = [&](TakeMode mode) {
    return rowMajorValues(
        *onednn_, compare({.desc = TakeDesc{0, mode}, .inputs = {data, indices}}).onednn.outputs.at(0));
  };
  EXPECT_EQ(taken(TakeMode::clip), (std::vector<float>{3, 1, 1, 3}));
  const std::vector<float> wrapped = taken(TakeMode::wrap);
  EXPECT_EQ(std::vector<float>(wrapped.begin(), wrapped.begin() + 3), (std::vector<float>{1, 1, 1}));
}

TEST_F(Take, MistakesAreMessages) {
  EXPECT_THAT(failureOf(*reference_, TakeDesc{2}, Pass::forward, {{2, 3}, {1}}),
              HasSubstr("there is no axis 2 in 2x3"));
  EXPECT_THAT(failureOf(*reference_, TakeDesc{}, Pass::forward, {{1, 1, 1, 1}, {1, 1, 1, 1}}),
              HasSubstr("the output would have 7 axes"));
  for (Backend* backend : {reference_.get(), onednn_.get()}) {
    const TensorSpec specs[] = {{{3}}, {{1}}};
    const KernelPtr kernel = backend->prepare(TakeDesc{0, TakeMode::raise}, Pass::inference, specs).value();
    const Array data = random({3}), index = makeArray({1}, {-1}), out = makeArray(kernel->outputs()[0]);
    const void* from[] = {data.bytes.get(), index.bytes.get()};
    void* to[] = {out.bytes.get()};
    const auto workspace = makeWorkspace(*kernel);
    const Status status =
        kernel->run({.inputs = from, .outputs = to, .context = {.workspace = workspace.get()}});
    ASSERT_FALSE(status.has_value());
    EXPECT_THAT(status.error().message, HasSubstr("take: index 0 is -1, must be a whole number from 0 to 2"));
  }
}

class TakeGradient : public GradientCheck {};

TEST_P(TakeGradient, OfTheCall) {
  const auto session = openSession(GetParam());
  ASSERT_NE(session, nullptr);
  const NDArray which = NDArray::fromValues(*session, {3}, std::vector<float>{1, 2, 1});
  checkGradients(*session,
                 {"take", {{2, 3, 2}}, [&](Arrays& a) { return op::take(a[0], which, {.axis = 1}); }});
}

INSTANTIATE_TEST_SUITE_P(Backends, TakeGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::take_test
