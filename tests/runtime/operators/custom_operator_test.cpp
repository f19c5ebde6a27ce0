// Operators of programs: contents, gradients, messages, and what the trace says.
#include "runtime/custom_operator.h"

#include <gmock/gmock.h>

#include "tests/runtime/nn/gradient_check.h"

namespace pitwall::test::custom_operator_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// a * b + a, with a gradient by hand.
CustomOperator multiplyAdd() {
  CustomOperator op;
  op.name = "MultiplyAdd";
  op.shape = [](std::span<const Shape> shapes) -> Result<Shape> {
    if (shapes.size() != 2 || shapes[0] != shapes[1])
      return fail(ErrorCode::invalidInput, "two arrays of one shape");
    return shapes[0];
  };
  op.forward = [](const CustomForward& call) -> Status {
    for (std::size_t i = 0; i < call.output.size(); ++i)
      call.output[i] = call.inputs[0].values[i] * call.inputs[1].values[i] + call.inputs[0].values[i];
    return {};
  };
  op.backward = [](const CustomBackward& call) -> Status {
    for (std::size_t i = 0; i < call.head.size(); ++i) {
      if (!call.gradients[0].empty()) call.gradients[0][i] = call.head[i] * (call.inputs[1].values[i] + 1);
      if (!call.gradients[1].empty()) call.gradients[1][i] = call.head[i] * call.inputs[0].values[i];
    }
    return {};
  };
  op.flop = [](std::span<const Shape> shapes) { return Flop{2 * shapes[0].elements()}; };
  return op;
}

Result<NDArray> callOf(const CustomOperator& op, std::vector<NDArray> arrays) {
  return op::custom(op, arrays, CallSite("mine"));
}

std::string failure(const Result<NDArray>& result) {
  return result.has_value() ? "" : result.error().message;
}

class CustomOperators : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    session_ = openSession(GetParam());
    ASSERT_NE(session_, nullptr);
  }
  NDArray array(Shape shape, std::vector<float> values) {
    return NDArray::fromValues(*session_, shape, values);
  }

  std::unique_ptr<Session> session_;
};

TEST_P(CustomOperators, ComputeAndDifferentiate) {
  EXPECT_THAT(must(must(callOf(multiplyAdd(), {array({2}, {2, 3}), array({2}, {5, 7})})).toVector()),
              ElementsAre(12, 24));
  checkGradients(*session_,
                 {"two inputs", {{3, 5}, {3, 5}}, [](Arrays& a) { return callOf(multiplyAdd(), a); }});
  checkGradients(*session_, {"one array twice", {{4}}, [](Arrays& a) {
                               return callOf(multiplyAdd(), {a[0], a[0]});
                             }});
  checkGradients(*session_, {"between other operators", {{2, 3}, {2, 3}}, [](Arrays& a) -> Result<NDArray> {
                               const NDArray sum = must(op::add(a[0], a[1]));
                               return op::multiply(must(callOf(multiplyAdd(), {sum, a[1]})), a[0]);
                             }});
}

// A convolution of oneDNN leaves its output in a blocked layout.
TEST_P(CustomOperators, SeeRowMajorValues) {
  std::vector<float> weights(16 * 16, 0);
  for (std::size_t i = 0; i < 16; ++i) weights[i * 16 + i] = 1;
  const std::vector<float> values = numbers(2 * 16 * 3 * 3, 7);
  const NDArray image = array({2, 16, 3, 3}, values);
  const NDArray same =
      must(op::convolution(image, {array({16, 16, 1, 1}, weights), {}}, {.channels = 16, .bias = false}));
  CustomOperator copy = multiplyAdd();
  copy.shape = [](std::span<const Shape> shapes) -> Result<Shape> { return shapes[0]; };
  copy.forward = [](const CustomForward& call) -> Status {
    std::copy(call.inputs[0].values.begin(), call.inputs[0].values.end(), call.output.begin());
    return {};
  };
  EXPECT_THAT(must(must(callOf(copy, {same})).toVector()),
              testing::Pointwise(testing::FloatNear(1e-5F), values));
}

TEST_P(CustomOperators, AGradientThatIsNotNeededIsEmpty) {
  NDArray a = array({2}, {2, 3});
  a.attachGradient();
  const NDArray b = array({2}, {5, 7});
  CustomOperator op = multiplyAdd();
  const auto backward = op.backward;
  bool empty = false;
  op.backward = [&empty, backward](const CustomBackward& call) {
    empty = call.gradients[1].empty() && call.gradients.size() == 2;
    return backward(call);
  };
  const NDArray out = must(autograd::record([&] { return callOf(op, {a, b}); }));
  ASSERT_TRUE(autograd::backward(out).has_value());
  EXPECT_THAT(must(a.gradient().toVector()), ElementsAre(6, 8));
  EXPECT_TRUE(empty);
}

TEST_P(CustomOperators, MistakesAreMessages) {
  const NDArray two = array({2}, {1, 2}), three = array({3}, {1, 2, 3});
  EXPECT_EQ(failure(callOf(multiplyAdd(), {two, three})), "mine: MultiplyAdd: two arrays of one shape");
  EXPECT_THAT(failure(callOf(multiplyAdd(), {})), HasSubstr("mine: MultiplyAdd: it has no inputs"));
  EXPECT_THAT(failure(callOf(multiplyAdd(), {two, NDArray()})), HasSubstr("input 1 is an empty handle"));
  const NDArray bytes = NDArray::empty(*session_, {2}, MemoryTag::other, DType::uint8);
  EXPECT_THAT(failure(callOf(multiplyAdd(), {two, bytes})), HasSubstr("input 1 has values of uint8"));
  const NDArray elsewhere = must(two.copyTo({DeviceKind::cpu, 1}));
  EXPECT_THAT(failure(callOf(multiplyAdd(), {two, elsewhere})),
              HasSubstr("its arrays are on cpu(0) and cpu(1)"));
  CustomOperator op = multiplyAdd();
  op.backward = nullptr;
  NDArray weight = array({2}, {1, 2});
  weight.attachGradient();
  EXPECT_THAT(failure(autograd::record([&] {
                return callOf(op, {weight, two});
              })),
              HasSubstr("it has no gradient"));
  EXPECT_TRUE(callOf(op, {weight, two}).has_value()) << "without recording none is needed";
  op.shape = nullptr;
  EXPECT_THAT(failure(callOf(op, {two, two})), HasSubstr("shape and forward must be given"));
}

TEST_P(CustomOperators, AnErrorOfTheFunctionIsTheArrays) {
  CustomOperator op = multiplyAdd();
  op.forward = [](const CustomForward&) -> Status {
    return fail(ErrorCode::invalidInput, "a negative value");
  };
  const NDArray out = must(callOf(op, {array({1}, {1}), array({1}, {1})}));
  const auto values = out.toVector();
  ASSERT_FALSE(values.has_value());
  EXPECT_THAT(values.error().message, HasSubstr("a negative value"));
}

TEST_P(CustomOperators, AnInputThatWasNeverWrittenIsAMessage) {
  const auto values =
      must(callOf(multiplyAdd(), {array({1}, {1}), NDArray::empty(*session_, {1})})).toVector();
  ASSERT_FALSE(values.has_value());
  EXPECT_THAT(values.error().message, HasSubstr("MultiplyAdd: input 1 was never written"));
}

INSTANTIATE_TEST_SUITE_P(Backends, CustomOperators, testing::Values("reference", "onednn"),
                         [](const auto& backend) { return std::string(backend.param); });

}  // namespace
}  // namespace pitwall::test::custom_operator_test
