// Layouts: the public view of blocked arrays, and passing them between operators.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/runtime/backend/harness.h"

namespace pitwall::layout_test {
namespace {

using test::Array;
using test::ask;
using test::reordered;
using test::rowMajorValues;

class LayoutTest : public ::testing::Test {
 protected:
  Array random(const Shape& shape) { return test::randomArray(shape, random_); }

  // The layouts that a convolution requires for data and weight, and produces for its output.
  struct Layouts {
    LayoutPtr data, weight, out;
  };
  Layouts layoutsOf(const ConvolutionDesc& desc, const Shape& data, const Shape& weight) {
    const TensorSpec specs[] = {{data}, {weight}};
    const KernelPtr kernel = onednn_->prepare(desc, Pass::forward, specs).value();
    return {kernel->inputs()[0].layout, kernel->inputs()[1].layout, kernel->outputs()[0].layout};
  }
  void expectSameValues(const Array& a, const Array& b) {
    EXPECT_EQ(rowMajorValues(*onednn_, a), rowMajorValues(*onednn_, b));
  }

  std::mt19937 random_{99};
  std::unique_ptr<Backend> onednn_ = test::open("onednn"), reference_ = test::open("reference");
};

TEST_F(LayoutTest, EveryLayoutGoesToRowMajorAndBack) {
  const std::pair<Shape, ConvolutionDesc> cases[] = {
      {{64, 20, 12, 12}, {.kernel = {5, 5}, .channels = 50, .bias = false}},
      {{2, 32, 8, 8}, {.kernel = {3, 3}, .channels = 32, .groups = 2, .bias = false}},
      {{2, 19, 10, 10}, {.kernel = {3, 3}, .channels = 19, .groups = 19, .bias = false}},
  };
  for (const auto& [shape, desc] : cases) {
    const Shape weight_shape{desc.channels, shape[1] / desc.groups, desc.kernel[0], desc.kernel[1]};
    const Layouts layouts = layoutsOf(desc, shape, weight_shape);
    for (const auto& [array, layout] :
         {std::pair{random(shape), layouts.data}, {random(weight_shape), layouts.weight}}) {
      const Array there = reordered(*onednn_, array, layout);
      EXPECT_TRUE(sameLayout(there.spec.layout, layout));
      EXPECT_GE(there.spec.sizeBytes(), array.spec.sizeBytes());
      expectSameValues(array, there);
    }
  }
}

TEST_F(LayoutTest, ReordersBetweenViewsOfDifferentRank) {
  // One weight array in the layouts of a grouped and an ordinary convolution.
  const Shape weight_shape{32, 16, 3, 3};
  const Layouts grouped =
      layoutsOf({.kernel = {3, 3}, .channels = 32, .groups = 2, .bias = false}, {2, 32, 8, 8}, weight_shape);
  const Layouts plain =
      layoutsOf({.kernel = {3, 3}, .channels = 32, .bias = false}, {2, 16, 8, 8}, weight_shape);
  ASSERT_NE(grouped.weight, nullptr);
  ASSERT_NE(plain.weight, nullptr);
  EXPECT_FALSE(sameLayout(grouped.weight, plain.weight));
  const Array weight = random(weight_shape);
  const Array as_grouped = reordered(*onednn_, weight, grouped.weight);
  const Array as_plain = reordered(*onednn_, as_grouped, plain.weight);
  EXPECT_TRUE(sameLayout(as_plain.spec.layout, plain.weight));
  expectSameValues(weight, as_plain);
}

TEST_F(LayoutTest, FullyConnectedWeightKeepsItsValues) {
  const TensorSpec specs[] = {{{64, 50, 4, 4}}, {{512, 800}}};
  const FullyConnectedDesc desc{.units = 512, .bias = false};
  const KernelPtr kernel = onednn_->prepare(desc, Pass::forward, specs).value();
  const Array weight = random({512, 800});
  expectSameValues(weight, reordered(*onednn_, weight, kernel->inputs()[1].layout));
}

TEST_F(LayoutTest, LayoutsAreComparedByArrangement) {
  const ConvolutionDesc desc{.kernel = {3, 3}, .channels = 32, .bias = false};
  const Layouts a = layoutsOf(desc, {2, 16, 8, 8}, {32, 16, 3, 3});
  const Layouts b = layoutsOf(desc, {2, 16, 9, 9}, {32, 16, 3, 3});
  EXPECT_NE(a.weight, b.weight);
  EXPECT_TRUE(sameLayout(a.weight, b.weight));
  EXPECT_FALSE(sameLayout(a.data, b.data));  // another size
  EXPECT_FALSE(sameLayout(a.weight, nullptr));
}

// conv -> relu -> pool -> conv in blocked layout, without a reorder in between.
TEST_F(LayoutTest, ActivationsFlowBlocked) {
  const ConvolutionDesc first{.kernel = {5, 5}, .channels = 20}, second{.kernel = {5, 5}, .channels = 50};
  const Array data = random({4, 1, 28, 28}), w1 = random({20, 1, 5, 5}), b1 = random({20});
  const Array w2 = random({50, 20, 5, 5}), b2 = random({50});
  std::vector<Array> results;
  for (Backend* backend : {reference_.get(), onednn_.get()}) {
    const auto conv1 = ask(*backend, {.desc = first, .inputs = {data, w1, b1}});
    const auto relu = ask(*backend, {.desc = ActivationDesc{}, .inputs = {conv1.outputs.at(0)}});
    const auto pool = ask(*backend, {.desc = PoolingDesc{}, .inputs = {relu.outputs.at(0)}});
    const auto conv2 = ask(*backend, {.desc = second, .inputs = {pool.outputs.at(0), w2, b2}});
    EXPECT_TRUE(sameLayout(conv1.kernel->outputs()[0].layout, relu.kernel->inputs()[0].layout));
    EXPECT_TRUE(sameLayout(relu.kernel->outputs()[0].layout, pool.kernel->inputs()[0].layout));
    EXPECT_TRUE(sameLayout(pool.kernel->outputs()[0].layout, conv2.kernel->inputs()[0].layout));
    results.push_back(conv2.outputs.at(0));
  }
  const auto expected = rowMajorValues(*reference_, results[0]),
             actual = rowMajorValues(*onednn_, results[1]);
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-3);
}

// Elementwise operators between convolutions leave the padding of blocked arrays zero.
TEST_F(LayoutTest, PaddingStaysZero) {
  // 19 channels: no block of 4, 8 or 16, whichever this CPU has, holds them without padding.
  const ConvolutionDesc desc{.kernel = {3, 3}, .channels = 19, .bias = false};
  const LayoutPtr layout = layoutsOf(desc, {2, 19, 9, 9}, {19, 19, 3, 3}).data;
  const Array data = reordered(*onednn_, random({2, 19, 9, 9}), layout);
  if (data.spec.sizeBytes() == data.spec.shape.elements() * 4)
    GTEST_SKIP() << "oneDNN's convolution for this CPU (older than AVX) takes arrays without padding";
  const test::Call calls[] = {
      {.desc = LinearDesc{2, 1}, .inputs = {data}},
      {.desc = LinearDesc{2, 0}, .inputs = {data}},
      {.desc = BinaryDesc{BinaryType::divide}, .inputs = {data, data}},
      {.desc = BinaryDesc{BinaryType::add}, .inputs = {data, data}},
      {.desc = DropoutDesc{}, .inputs = {data}},
      {.desc = ActivationDesc{ActivationType::sigmoid}, .inputs = {data}},
      {.desc = ActivationDesc{ActivationType::softrelu}, .inputs = {data}},
      {.desc = PoolingDesc{}, .inputs = {data}},
  };
  for (const test::Call& call : calls) {
    const Array out = ask(*onednn_, call).outputs.at(0);
    // The sum over the memory equals the sum of the elements.
    double stored = 0, elements = 0;
    for (std::int64_t i = 0; i < out.spec.sizeBytes() / 4; ++i)
      stored += static_cast<double>(out.floats()[i]);
    for (const float v : rowMajorValues(*onednn_, out)) elements += static_cast<double>(v);
    EXPECT_NEAR(stored, elements, 1e-3) << call.toString();
  }
}

TEST_F(LayoutTest, ReferenceRefusesForeignLayouts) {
  const LayoutPtr layout =
      layoutsOf({.kernel = {3, 3}, .channels = 32, .bias = false}, {2, 32, 8, 8}, {32, 32, 3, 3}).data;
  ASSERT_NE(layout, nullptr);
  const TensorSpec specs[] = {{{2, 32, 8, 8}}};
  const auto refused = reference_->prepare(ReorderDesc{layout}, Pass::forward, specs);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace pitwall::layout_test
