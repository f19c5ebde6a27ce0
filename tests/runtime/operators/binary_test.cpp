#include <limits>
#include <thread>

#include "tests/runtime/operators/operator_check.h"
#include "tests/support/thread_ids.h"

namespace pitwall::test::binary_test {
namespace {

using testing::HasSubstr;

constexpr BinaryType kTypes[] = {BinaryType::add,    BinaryType::subtract, BinaryType::multiply,
                                 BinaryType::divide, BinaryType::maximum,  BinaryType::minimum};
// The second combines with the first to a larger shape in the last rows.
const std::pair<Shape, Shape> kShapes[] = {
    {{3, 5}, {3, 5}},
    {{3, 5}, {5}},
    {{3, 5}, {3, 1}},
    {{3, 5}, {1}},
    {{2, 17, 5, 3}, {17, 1, 1}},
    {{2, 17, 5, 3}, {2, 17, 1, 1}},
    {{2, 16, 5, 3}, {1, 1, 5, 3}},
    {{2, 17, 5, 3}, {1, 1, 1, 1}},
    {{4, 1, 3}, {2, 1}},
    {{3, 1}, {1, 5}},
    {{7}, {2, 3, 7}},
    {{1, 17, 1, 1}, {2, 17, 5, 3}},
};

class Binary : public ConformanceCheck {};

TEST_F(Binary, BackendsAgreeInEveryLayout) {
  for (const auto& [shape_a, shape_b] : kShapes) {
    const Array a = away(shape_a), b = away(shape_b);
    const Shape& larger = shape_b.rank() == 4 && shape_b[0] == 2 ? shape_b : shape_a;
    for (const LayoutPtr& layout : layoutsFor(*onednn_, larger)) {
      const auto arrange = [&](const Array& array) {
        return array.spec.shape == larger ? reordered(*onednn_, array, layout) : array;
      };
      for (const BinaryType type : kTypes) {
        const BinaryDesc desc{type};
        const Pair out =
            compare({.desc = desc, .inputs = {a, b}}, {.desc = desc, .inputs = {arrange(a), arrange(b)}});
        if (!out.onednn.kernel) continue;
        const Array dout = random(out.reference.outputs[0].spec.shape);
        compare({.desc = desc, .pass = Pass::backward, .inputs = {a, b, dout}},
                {.desc = desc, .pass = Pass::backward, .inputs = {arrange(a), arrange(b), dout}}, 1e-4);
      }
    }
  }
}

// Maximum and minimum have no kernel for a blocked array with one that repeats.
TEST_F(Binary, ABlockedArrayKeepsItsLayout) {
  const Shape shape{2, 17, 5, 3};
  const LayoutPtr layout = blockedLayout(*onednn_, shape);
  const Array data = reordered(*onednn_, random(shape), layout);
  for (const Shape& repeated : {Shape{17, 1, 1}, Shape{2, 17, 1, 1}, Shape{1, 1, 5, 3}, Shape{1, 1, 1, 1}}) {
    const Array shift = away(repeated);
    for (const BinaryType type :
         {BinaryType::add, BinaryType::subtract, BinaryType::multiply, BinaryType::divide}) {
      const Answer out = ask(*onednn_, {.desc = BinaryDesc{type}, .inputs = {data, shift}});
      ASSERT_TRUE(out.kernel);
      EXPECT_TRUE(sameLayout(out.kernel->inputs()[0].layout, layout));
      EXPECT_TRUE(sameLayout(out.kernel->outputs()[0].layout, layout));
      double sum = 0;
      for (const float value : rowMajorValues(*onednn_, out.outputs.at(0))) sum += static_cast<double>(value);
      EXPECT_NEAR(storedSum(out.outputs[0]), sum, 1e-3 * std::max(1.0, std::abs(sum)))
          << "padding stays zero: " << repeated.toString();
    }
  }
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Of both backends, where b has the shape of a, repeats along it, and where a is blocked.
TEST_F(Binary, NanStaysInMaximumAndMinimum) {
  const Shape images{1, 16, 1, 2};
  const Array data = random(images), shift = random({16, 1, 1});
  data.floats()[3] = shift.floats()[5] = kNan;
  const Call calls[] = {
      {.inputs = {makeArray({4}, {kNan, 1, kNan, 2}), makeArray({4}, {1, kNan, kNan, 3})}},
      {.inputs = {makeArray({2, 2}, {kNan, 1, 3, 2}), makeArray({2}, {1, kNan})}},
      {.inputs = {data, shift}},
      {.inputs = {reordered(*onednn_, data, blockedLayout(*onednn_, images)), shift}},
  };
  const std::vector<std::vector<std::size_t>> expected{{0, 1, 2}, {0, 1, 3}, {3, 10, 11}, {3, 10, 11}};
  for (const BinaryType type : {BinaryType::maximum, BinaryType::minimum}) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      for (Backend* backend : {reference_.get(), onednn_.get()}) {
        if (calls[i].inputs[0].spec.layout != nullptr && backend != onednn_.get()) continue;
        Call call = calls[i];
        call.desc = BinaryDesc{type};
        const auto values = rowMajorValues(*backend, ask(*backend, call).outputs.at(0));
        std::vector<std::size_t> places;
        for (std::size_t at = 0; at < values.size(); ++at) {
          if (std::isnan(values[at])) places.push_back(at);
        }
        EXPECT_EQ(places, expected[i]) << backend->name() << " " << call.toString();
      }
    }
  }
}

TEST_F(Binary, NanHasNoGradientInMaximumAndMinimum) {
  const Array a = makeArray({4}, {kNan, 1, 5, 2}), b = makeArray({4}, {1, kNan, 4, 2}),
              dout = makeArray({4}, {1, 2, 3, 4});
  const auto gradients = [&](BinaryType type) {
    const Answer both =
        compare({.desc = BinaryDesc{type}, .pass = Pass::backward, .inputs = {a, b, dout}}).onednn;
    return std::pair(rowMajorValues(*onednn_, both.outputs.at(0)),
                     rowMajorValues(*onednn_, both.outputs.at(1)));
  };
  using Values = std::vector<float>;
  EXPECT_EQ(gradients(BinaryType::maximum), std::pair(Values({0, 0, 3, 4}), Values({0, 0, 0, 0})));
  EXPECT_EQ(gradients(BinaryType::minimum), std::pair(Values({0, 0, 0, 4}), Values({0, 0, 3, 0})));
}

// The threads that a run starts, seen from a thread that has started none.
std::size_t threadsOfARun(const Backend& backend, const KernelPtr& kernel, const std::vector<Array>& inputs) {
  std::vector<const void*> from;
  for (const Array& array : inputs) from.push_back(array.bytes.get());
  const Array out = makeArray(kernel->outputs()[0]);
  void* to[] = {out.bytes.get()};
  std::size_t started = 0;
  std::thread([&] {
    const auto before = threadIds();
    EXPECT_TRUE(kernel->run({.inputs = from, .outputs = to, .context = {.threads = 3}}).has_value())
        << backend.name();
    started = threadsSince(before).size();
  }).join();
  return started;
}

// A difference whose first array repeats along a blocked one is computed row-major.
TEST_F(Binary, HonoursTheSettingForParallelLoops) {
  if (!secondIsOnednn()) GTEST_SKIP() << "about the threads of oneDNN";
  const Shape shape{1, 16, 40, 40};
  const LayoutPtr layout = blockedLayout(*onednn_, shape);
  for (const auto& [least, threads] : {std::pair{"1", 2U}, std::pair{"1000000", 0U}}) {
    const std::vector<std::pair<std::string, std::string>> values{{"MXNET_CPU_PARALLEL_SIZE", least}};
    const auto backend = openBackend("onednn", *Settings::fromValues(values)).value();
    const TensorSpec specs[] = {{{16, 1, 1}}, {shape, DType::float32, layout}};
    const KernelPtr kernel =
        backend->prepare(BinaryDesc{BinaryType::subtract}, Pass::inference, specs).value();
    EXPECT_EQ(threadsOfARun(*backend, kernel, {random({16, 1, 1}), random(shape)}), threads) << least;
  }
}

TEST_F(Binary, ByHand) {
  const Array a = makeArray({2, 1}, {1, 2}), b = makeArray({3}, {10, 20, 30});
  const auto out = compare({.desc = BinaryDesc{BinaryType::subtract}, .inputs = {a, b}});
  EXPECT_EQ(rowMajorValues(*reference_, out.reference.outputs.at(0)),
            (std::vector<float>{-9, -19, -29, -8, -18, -28}));
  const Array dout = makeArray({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto gradient =
      compare({.desc = BinaryDesc{BinaryType::subtract}, .pass = Pass::backward, .inputs = {a, b, dout}});
  EXPECT_EQ(rowMajorValues(*reference_, gradient.reference.outputs.at(0)), (std::vector<float>{6, 15}));
  EXPECT_EQ(rowMajorValues(*reference_, gradient.reference.outputs.at(1)), (std::vector<float>{-5, -7, -9}));
}

TEST_F(Binary, MistakesAreMessages) {
  Backend& backend = *reference_;
  EXPECT_THAT(failureOf(backend, BinaryDesc{}, Pass::forward, {{2, 3}, {2}}),
              HasSubstr("Binary forward(2x3, 2): b has shape 2, which does not combine with 2x3"));
  EXPECT_THAT(failureOf(backend, BinaryDesc{}, Pass::backward, {{2, 3}, {3}, {3}}),
              HasSubstr("dout has shape 3, must be 2x3"));
}

class BinaryGradient : public GradientCheck {};

TEST_P(BinaryGradient, OfTheKernel) {
  for (const auto& [shape_a, shape_b] :
       {std::pair{Shape{2, 3}, Shape{2, 3}}, {Shape{2, 3}, Shape{3}}, {Shape{3, 1}, Shape{1, 2}}}) {
    for (const BinaryType type : kTypes) {
      Array a = spread(shape_a), b = spread(shape_b);
      for (std::int64_t i = 0; i < shape_b.elements(); ++i)
        b.floats()[i] += b.floats()[i] < 0 ? -0.62F : 0.62F;
      const Call forward{.desc = BinaryDesc{type}, .inputs = {a, b}};
      const Array dout = random(ask(*backend_, forward).outputs.at(0).spec.shape);
      const Call backward{.desc = BinaryDesc{type}, .pass = Pass::backward, .inputs = {a, b, dout}};
      for (std::size_t i = 0; i < 2; ++i) expectGradient(forward, i, dout, backward, i);
    }
  }
}

TEST_P(BinaryGradient, OfTheCall) {
  const auto session = openSession(GetParam());
  ASSERT_NE(session, nullptr);
  const auto check = [&](const char* name, auto function) {
    checkGradients(
        *session,
        {name, {{2, 3}, {3}}, [=](Arrays& a) { return function(a[0], a[1], CallSite{}); }, awayFromZero});
  };
  check("broadcast_add", op::add);
  check("broadcast_sub", op::subtract);
  check("broadcast_mul", op::multiply);
  check("broadcast_div", op::divide);
  check("maximum", op::maximum);
  check("minimum", op::minimum);
}

INSTANTIATE_TEST_SUITE_P(Backends, BinaryGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::binary_test
