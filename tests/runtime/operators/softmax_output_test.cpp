#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::softmax_output_test {
namespace {

using testing::HasSubstr;
using Normalization = SoftmaxNormalization;

struct OutputCase {
  Shape data, label;
  SoftmaxOutputDesc desc;
  std::int64_t classes;
};
const OutputCase kCases[] = {
    {{4, 5}, {4}, {}, 5},
    {{4, 2, 3}, {4}, {.grad_scale = 3, .normalization = Normalization::batch}, 6},
    {{3, 4, 2, 2}, {3, 2, 2}, {.normalization = Normalization::batch, .multi_output = true}, 4},
    {{3, 4, 2, 2}, {3, 4}, {.multi_output = true, .smooth_alpha = 0.1F}, 4},
    {{3, 2, 4},
     {3, 2},
     {.normalization = Normalization::valid, .preserve_shape = true, .use_ignore = true, .ignore_label = 2},
     4},
    {{6, 4}, {6}, {.use_ignore = true, .ignore_label = -1}, 4},
    {{40, 1000}, {40}, {.normalization = Normalization::batch}, 1000},
};

class SoftmaxOutput : public ConformanceCheck {
 protected:
  Array labels(const OutputCase& c) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < c.label.elements(); ++i)
      values.push_back(static_cast<float>(random_() % static_cast<unsigned>(c.classes)));
    if (c.desc.use_ignore) values.back() = c.desc.ignore_label;
    return makeArray(c.label, values);
  }
};

TEST_F(SoftmaxOutput, BackendsAgreeInEveryLayout) {
  for (const OutputCase& c : kCases) {
    const Array data = random(c.data), label = labels(c);
    for (const LayoutPtr& layout : layoutsFor(*onednn_, c.data)) {
      const Array arranged = reordered(*onednn_, data, layout);
      compare({.desc = c.desc, .pass = Pass::inference, .inputs = {data}},
              {.desc = c.desc, .pass = Pass::inference, .inputs = {arranged}});
      const Pair out = compare({.desc = c.desc, .inputs = {data}}, {.desc = c.desc, .inputs = {arranged}});
      if (!out.onednn.kernel) continue;
      compare({.desc = c.desc, .pass = Pass::backward, .inputs = {label, out.reference.outputs[0]}},
              {.desc = c.desc, .pass = Pass::backward, .inputs = {label, out.onednn.outputs[0]}});
    }
  }
}

// Of -grad_scale * sum of log(probability of the label) / divisor, whatever the head's gradient.
TEST_F(SoftmaxOutput, IsTheGradientOfTheCrossEntropy) {
  const struct {
    SoftmaxOutputDesc desc;
    double divisor;
  } cases[] = {{{}, 1},
               {{.grad_scale = 2, .normalization = Normalization::batch}, 3 / 2.0},
               {{.normalization = Normalization::valid, .use_ignore = true, .ignore_label = 1}, 2}};
  const Array data = random({3, 4}), label = makeArray({3}, {2, 1, 0});
  for (const auto& [desc, divisor] : cases) {
    const auto loss = [&](const Array& scores) {
      const auto p =
          rowMajorValues(*reference_, ask(*reference_, {.desc = desc, .inputs = {scores}}).outputs.at(0));
      double sum = 0;
      for (std::size_t n = 0; n < 3; ++n) {
        const float of = label.floats()[n];
        if (desc.use_ignore && of == desc.ignore_label) continue;
        sum -= std::log(static_cast<double>(p[n * 4 + static_cast<std::size_t>(of)]));
      }
      return sum / divisor;
    };
    const Array out = ask(*reference_, {.desc = desc, .inputs = {data}}).outputs.at(0);
    const Pair gradient = compare({.desc = desc, .pass = Pass::backward, .inputs = {label, out}});
    for (std::size_t i = 0; i < 12; ++i) {
      Array changed = clone(data);
      changed.floats()[i] += kGradientStep;
      const double above = loss(changed);
      changed.floats()[i] -= 2 * kGradientStep;
      EXPECT_NEAR(static_cast<double>(gradient.reference.outputs.at(0).floats()[i]),
                  (above - loss(changed)) / (2 * static_cast<double>(kGradientStep)), 2e-3);
    }
  }
}

// Two samples of two pixels and two classes, each with probability 0.5: a gradient is 0.5 or -0.5 by the divisor.
TEST_F(SoftmaxOutput, DivisorsOfMultiOutputByHand) {
  const Array out = makeArray({2, 2, 2}, std::vector<float>(8, 0.5F)),
              label = makeArray({2, 2}, {0, 1, 1, 0});
  const auto gradient = [&](SoftmaxOutputDesc desc) {
    desc.multi_output = true;
    return rowMajorValues(
        *onednn_,
        compare({.desc = desc, .pass = Pass::backward, .inputs = {label, out}}).onednn.outputs.at(0));
  };
  const auto expected = [](float each) {
    return std::vector<float>{-each, each, each, -each, each, -each, -each, each};
  };
  EXPECT_EQ(gradient({.normalization = Normalization::none}), expected(0.25F)) << "the pixels of a sample";
  EXPECT_EQ(gradient({.normalization = Normalization::batch}), expected(0.125F)) << "samples and pixels";
  EXPECT_EQ(gradient({.normalization = Normalization::valid}), expected(0.125F)) << "all labels";
  EXPECT_EQ(gradient({.grad_scale = 6, .normalization = Normalization::none}), expected(1.5F));
  // Without the two that are ignored, the pixels do not divide.
  EXPECT_EQ(gradient({.normalization = Normalization::valid, .use_ignore = true, .ignore_label = 1}),
            (std::vector<float>{-0.25F, 0, 0.25F, 0, 0, -0.25F, 0, 0.25F}));
  EXPECT_EQ(gradient({.normalization = Normalization::none, .use_ignore = true, .ignore_label = 1}),
            (std::vector<float>{-0.25F, 0, 0.25F, 0, 0, -0.25F, 0, 0.25F}));
  EXPECT_EQ(gradient({.normalization = Normalization::batch, .use_ignore = true, .ignore_label = 1}),
            (std::vector<float>{-0.125F, 0, 0.125F, 0, 0, -0.125F, 0, 0.125F}));
}

TEST_F(SoftmaxOutput, LabelsMayBeProbabilities) {
  const Array label = makeArray({2, 2}, {0.25F, 0.75F, 1, 0}),
              out = makeArray({2, 2}, {0.5F, 0.5F, 0.5F, 0.5F});
  const Pair gradient =
      compare({.desc = SoftmaxOutputDesc{.grad_scale = 2}, .pass = Pass::backward, .inputs = {label, out}});
  EXPECT_EQ(rowMajorValues(*reference_, gradient.reference.outputs.at(0)),
            (std::vector<float>{0.5F, -0.5F, -1, 1}));
}

TEST_F(SoftmaxOutput, MistakesAreMessages) {
  Backend& backend = *reference_;
  EXPECT_THAT(failureOf(backend, SoftmaxOutputDesc{}, Pass::forward, {{4}}), HasSubstr("at least 2 axes"));
  EXPECT_THAT(failureOf(backend, SoftmaxOutputDesc{}, Pass::backward, {{5}, {4, 3}}),
              HasSubstr("label has shape 5, must have 4 elements, one for each softmax of 4x3"));
  EXPECT_THAT(failureOf(backend, SoftmaxOutputDesc{.multi_output = true, .preserve_shape = true},
                        Pass::forward, {{4, 3}}),
              HasSubstr("set one of both"));
  EXPECT_THAT(failureOf(backend, SoftmaxOutputDesc{.smooth_alpha = 1}, Pass::forward, {{4, 3}}),
              HasSubstr("smooth_alpha 1"));
}

TEST_F(SoftmaxOutput, RefusesLabelsThatAreNoClass) {
  for (Backend* backend : {reference_.get(), onednn_.get()}) {
    const TensorSpec specs[] = {{{2}}, {{2, 3}}};
    const KernelPtr kernel = backend->prepare(SoftmaxOutputDesc{}, Pass::backward, specs).value();
    const Array label = makeArray({2}, {0, 3}), out = makeArray({2, 3}, std::vector<float>(6, 1 / 3.0F));
    const Array gradient = makeArray(kernel->outputs()[0]);
    const void* from[] = {label.bytes.get(), out.bytes.get()};
    void* to[] = {gradient.bytes.get()};
    const auto workspace = makeWorkspace(*kernel);
    const Status status =
        kernel->run({.inputs = from, .outputs = to, .context = {.workspace = workspace.get()}});
    ASSERT_FALSE(status.has_value());
    EXPECT_THAT(status.error().message,
                HasSubstr("SoftmaxOutput: the label of sample 1 is 3, must be a whole number"));
  }
}

TEST(SoftmaxOutputCall, GivesTheGradientWithoutAHead) {
  for (const char* name : {"reference", "onednn"}) {
    const auto session = openSession(name);
    NDArray data = NDArray::fromValues(*session, {1, 2}, std::vector<float>{0, 0});
    data.attachGradient();
    const NDArray label = NDArray::fromValues(*session, {1}, std::vector<float>{1});
    const NDArray out = must(autograd::record([&] { return op::softmaxOutput(data, label); }));
    EXPECT_EQ(must(out.toVector()), (std::vector<float>{0.5F, 0.5F}));
    must(autograd::backward(out));
    EXPECT_EQ(must(data.gradient().toVector()), (std::vector<float>{0.5F, -0.5F}));
    const auto wrong = op::softmaxOutput(data, NDArray::zeros(*session, {3}));
    ASSERT_FALSE(wrong.has_value());
    EXPECT_THAT(wrong.error().message, HasSubstr("label has shape 3"));
  }
}

}  // namespace
}  // namespace pitwall::test::softmax_output_test
