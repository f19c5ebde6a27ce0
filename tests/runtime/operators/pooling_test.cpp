#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::pooling_test {
namespace {

using testing::HasSubstr;
constexpr auto kFull = PoolingConvention::full;

struct PoolingCase {
  Shape data;
  PoolingDesc desc;
};
const PoolingCase kCases[] = {
    {{2, 17, 8, 7}, {.kernel = {3, 3}, .convention = kFull}},
    {{2, 16, 7, 6}, {.kernel = {3, 2}, .stride = {3, 2}, .pad = {1, 1}, .convention = kFull}},
    {{1, 3, 6, 6}, {.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}, .convention = kFull}},
    {{2, 17, 9, 11}, {.kernel = {3, 3}, .stride = {1, 1}, .pad = {1, 1}}},
    {{2, 16, 5, 7}, {.global = true}},
    {{2, 17, 7, 7}, {.kernel = {50, 50}, .stride = {0, 0}, .pad = {60, 0}, .global = true}},
};

class PoolingForms : public ConformanceCheck {};

TEST_F(PoolingForms, BackendsAgreeInEveryLayout) {
  for (PoolingCase c : kCases) {
    for (const auto& [type, counts] : {std::pair{PoolingType::max, false},
                                       {PoolingType::average, false},
                                       {PoolingType::average, true},
                                       {PoolingType::sum, false},
                                       {PoolingType::norm, false}}) {
      c.desc.type = type;
      c.desc.count_padding = counts;
      const Array data = random(c.data);
      for (const LayoutPtr& layout : layoutsFor(*onednn_, c.data)) comparePooling(c.desc, data, layout);
    }
  }
}

// 1 to 6; windows of 3 every 2.
TEST_F(PoolingForms, ByHand) {
  const Array data = makeArray({1, 1, 1, 6}, {1, 2, 3, 4, 5, 6});
  const auto pooled = [&](PoolingDesc desc) {
    desc.kernel = {1, 3};
    desc.stride = {1, 2};
    return rowMajorValues(*reference_, compare({.desc = desc, .inputs = {data}}).reference.outputs.at(0));
  };
  EXPECT_EQ(pooled({}), (std::vector<float>{3, 5}));
  EXPECT_EQ(pooled({.convention = kFull}), (std::vector<float>{3, 5, 6}));
  const PoolingDesc average{.type = PoolingType::average, .pad = {0, 1}};
  EXPECT_EQ(pooled(average), (std::vector<float>{1.5F, 3, 5}));
  PoolingDesc counting = average;
  counting.count_padding = true;
  EXPECT_EQ(pooled(counting), (std::vector<float>{1, 3, 5}));
  counting.convention = kFull;
  EXPECT_EQ(pooled(counting), (std::vector<float>{1, 3, 5, 3})) << "6 and one element of padding";
}

// Windows of 2 every 2 of data along one axis.
TEST_F(PoolingForms, SumsAndNormsByHand) {
  const Array data = makeArray({1, 1, 6}, {3, 4, 0, 0, -1, 2});
  const auto pooled = [&](PoolingType type, std::int8_t power = 2) {
    const PoolingDesc desc{.type = type, .kernel = {1, 2}, .stride = {1, 2}, .power = power};
    const Pair out = compare({.desc = desc, .inputs = {data}});
    EXPECT_EQ(out.onednn.outputs.at(0).spec.shape, (Shape{1, 1, 3}));
    return rowMajorValues(*onednn_, out.onednn.outputs[0]);
  };
  EXPECT_EQ(pooled(PoolingType::sum), (std::vector<float>{7, 0, 1}));
  EXPECT_EQ(pooled(PoolingType::norm, 1), (std::vector<float>{7, 0, 1}));
  EXPECT_EQ(pooled(PoolingType::norm), (std::vector<float>{5, 0, std::sqrt(5.0F)}));
  EXPECT_EQ(pooled(PoolingType::norm, 3), (std::vector<float>{std::cbrt(91.0F), 0, std::cbrt(7.0F)}));
  const PoolingDesc norm{.type = PoolingType::norm, .kernel = {1, 2}, .stride = {1, 2}};
  const Pair out = compare({.desc = norm, .inputs = {data}});
  const Array dout = makeArray({1, 1, 3}, {10, 1, 0});
  const auto gradient = [&](const Answer& of) {
    return Call{
        .desc = norm, .pass = Pass::backward, .inputs = {data, of.outputs.at(0), dout, of.outputs.at(1)}};
  };
  const Pair back = compare(gradient(out.reference), gradient(out.onednn));
  EXPECT_EQ(rowMajorValues(*onednn_, back.onednn.outputs.at(0)), (std::vector<float>{6, 8, 0, 0, 0, 0}))
      << "0 where the norm is 0";
}

// A window along one axis is that of an image of height 1.
TEST_F(PoolingForms, OneAxisIsAnImageOfHeightOne) {
  for (const PoolingType type :
       {PoolingType::max, PoolingType::average, PoolingType::sum, PoolingType::norm}) {
    for (const bool global : {false, true}) {
      const PoolingDesc desc{.type = type,
                             .kernel = {1, 3},
                             .stride = {1, 2},
                             .pad = {0, 1},
                             .convention = kFull,
                             .global = global};
      const Array line = random({2, 17, 10}),
                  image = makeArray({2, 17, 1, 10}, {line.floats(), line.floats() + 340});
      const Pair out = comparePooling(desc, line, nullptr);
      ASSERT_TRUE(out.onednn.kernel);
      const Answer of_image = ask(*onednn_, {.desc = desc, .inputs = {image}});
      EXPECT_LE(errorOf(rowMajorValues(*onednn_, out.onednn.outputs[0]),
                        rowMajorValues(*onednn_, of_image.outputs.at(0))),
                1e-6);
    }
  }
}

TEST_F(PoolingForms, MistakesAreMessages) {
  Backend& backend = *reference_;
  EXPECT_THAT(
      failureOf(backend, PoolingDesc{.kernel = {1, 1}, .stride = {4, 4}, .convention = kFull},
                Pass::inference, {{1, 1, 8, 8}}),
      HasSubstr("the last window begins at 8, after the 8 elements of axis 2; use the convention valid"));
  EXPECT_THAT(
      failureOf(backend, PoolingDesc{.kernel = {9, 9}, .convention = kFull}, Pass::inference, {{1, 1, 8, 8}}),
      HasSubstr("a 9x9 window does not fit into 1x1x8x8 data"));
  EXPECT_THAT(failureOf(backend, PoolingDesc{.global = true}, Pass::inference, {{8, 8}}),
              HasSubstr("4 axes"));
  EXPECT_THAT(failureOf(backend, PoolingDesc{.kernel = {2, 2}}, Pass::inference, {{1, 1, 8}}),
              HasSubstr("data has 3 axes: the first kernel and stride must be 1, the first pad 0"));
  EXPECT_THAT(
      failureOf(backend, PoolingDesc{.type = PoolingType::norm, .power = 4}, Pass::inference, {{1, 1, 8, 8}}),
      HasSubstr("the power of a norm is 4: must be 1, 2 or 3"));
}

class PoolingFormsGradient : public GradientCheck {};

TEST_P(PoolingFormsGradient, OfTheKernel) {
  const PoolingDesc cases[] = {
      {.type = PoolingType::sum, .kernel = {3, 3}, .stride = {2, 1}, .pad = {1, 1}},
      {.type = PoolingType::norm, .kernel = {3, 3}, .pad = {1, 1}},
      {.kernel = {3, 3}, .convention = kFull},
      {.type = PoolingType::average, .global = true},
      {.type = PoolingType::average, .kernel = {3, 3}, .pad = {1, 1}, .count_padding = true},
      {.type = PoolingType::average,
       .kernel = {3, 3},
       .pad = {1, 1},
       .convention = kFull,
       .count_padding = true}};
  for (const PoolingDesc& desc : cases) {
    const Array data = spread({1, 2, 6, 4});
    const Call forward{.desc = desc, .inputs = {data}};
    const Answer out = ask(*backend_, forward);
    const Array dout = random(out.outputs.at(0).spec.shape);
    expectGradient(
        forward, 0, dout,
        {.desc = desc, .pass = Pass::backward, .inputs = {data, out.outputs[0], dout, out.outputs[1]}});
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, PoolingFormsGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::pooling_test
