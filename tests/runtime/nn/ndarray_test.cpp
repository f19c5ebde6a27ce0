// Arrays: values in and out, views, errors that surface at a wait, and memory that outlives its handle.
#include <chrono>
#include <thread>

#include "tests/runtime/nn/nn_support.h"

namespace pitwall::test::ndarray_test {
namespace {

using ::testing::Test;

struct NdarrayTest : Test {
  std::unique_ptr<Session> session = openSession();
};

TEST_F(NdarrayTest, GivesBackWhatItWasGiven) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  NDArray array = NDArray::fromValues(*session, {2, 3}, values);
  EXPECT_EQ(must(array.toVector()), values);
  EXPECT_EQ(must(NDArray::zeros(*session, {3}).toVector()), (std::vector<float>{0, 0, 0}));
  const std::vector<float> others{6, 5, 4, 3, 2, 1};
  must(array.copyFrom(others));
  EXPECT_EQ(must(array.toVector()), others);
}

TEST_F(NdarrayTest, CopyFromComesAfterEarlierReaders) {
  NDArray array = NDArray::fromValues(*session, {2}, std::vector<float>{1, 2});
  NDArray doubled = must(op::multiplyScalar(array, 2));
  must(array.copyFrom(std::vector<float>{10, 20}));
  NDArray after = must(op::multiplyScalar(array, 2));
  EXPECT_EQ(must(doubled.toVector()), (std::vector<float>{2, 4}));
  EXPECT_EQ(must(after.toVector()), (std::vector<float>{20, 40}));
}

TEST_F(NdarrayTest, ReshapeSharesTheContents) {
  NDArray array = NDArray::fromValues(*session, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  NDArray view = must(array.reshape({3, 2}));
  must(array.copyFrom(std::vector<float>{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(must(view.toVector()), (std::vector<float>{6, 5, 4, 3, 2, 1}));
  const auto wrong = array.reshape({4});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, ErrorCode::invalidInput);
  EXPECT_NE(wrong.error().message.find("2x3"), std::string::npos) << wrong.error().message;
}

TEST_F(NdarrayTest, ReadingWhatWasNeverWrittenIsAnError) {
  const auto values = NDArray::empty(*session, {4}).toVector();
  ASSERT_FALSE(values.has_value());
  EXPECT_EQ(values.error().code, ErrorCode::invalidInput);
}

TEST_F(NdarrayTest, FailedAllocationSurfacesOnceAtTheWait) {
  // No machine has an exbibyte; the error arises inside the operator, long after the call.
  NDArray huge = NDArray::zeros(*session, {std::int64_t{1} << 30, std::int64_t{1} << 28});
  NDArray dependent = must(op::addScalar(huge, 1));
  const Status waited = dependent.waitToRead();
  ASSERT_FALSE(waited.has_value());
  EXPECT_EQ(waited.error().code, ErrorCode::io) << waited.error().message;
  EXPECT_TRUE(session->engine().waitForAll().has_value()) << "the error was reported already";
}

TEST_F(NdarrayTest, ErrorOfAnInputReachesToVector) {
  NDArray huge = NDArray::zeros(*session, {std::int64_t{1} << 30, std::int64_t{1} << 28});
  EXPECT_FALSE(must(op::addScalar(huge, 1)).toVector().has_value());
}

TEST_F(NdarrayTest, HandlesMayGoBeforeTheirOperatorsRan) {
  NDArray result = NDArray::zeros(*session, {64, 64});
  for (int i = 0; i < 500; ++i) {
    NDArray one = NDArray::fromValues(*session, {64, 64}, std::vector<float>(64 * 64, 1));
    result = must(op::add(result, must(op::multiplyScalar(one, 2))));
  }
  EXPECT_EQ(must(result.toVector()), std::vector<float>(64 * 64, 1000));
}

TEST_F(NdarrayTest, MemoryIsGivenBack) {
  const auto live = [&] { return session->storage().total().live_blocks; };
  must(session->engine().waitForAll());
  const std::int64_t before = live();
  {
    const NDArray a = arrayOf(*session, {100}, 1);
    const NDArray b = must(op::add(a, a));
    must(b.waitToRead());
    EXPECT_EQ(live(), before + 2);
  }
  must(session->engine().waitForAll());
  EXPECT_EQ(live(), before);
}

TEST_F(NdarrayTest, RecordedGraphsAreForgotten) {
  const std::int64_t before = session->storage().total().live_blocks;
  for (int i = 0; i < 3; ++i) {
    NDArray x = arrayOf(*session, {8}, 1);
    x.attachGradient();
    const NDArray y = must(autograd::record([&] { return op::activation(x, {ActivationType::relu}); }));
    if (i > 0) must(autograd::backward(y));  // also without backward() nothing may leak
  }
  must(session->engine().waitForAll());
  EXPECT_EQ(session->storage().total().live_blocks, before);
}

TEST_F(NdarrayTest, InitialisersAreDeterministic) {
  NDArray a = NDArray::empty(*session, {50, 40}), b = NDArray::empty(*session, {50, 40});
  must(initialise(a, Initialiser::xavier(), 7));
  must(initialise(b, Initialiser::xavier(), 7));
  EXPECT_EQ(must(a.toVector()), must(b.toVector()));
  must(initialise(b, Initialiser::xavier(), 8));
  EXPECT_NE(must(a.toVector()), must(b.toVector()));
  const float bound = std::sqrt(3.0F / 45.0F);
  float largest = 0;
  for (const float v : must(a.toVector())) largest = std::max(largest, std::abs(v));
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.95F * bound);

  must(initialise(a, Initialiser::normal(2, 0.5F), 3));
  double sum = 0, squares = 0;
  for (const float v : must(a.toVector())) {
    sum += static_cast<double>(v);
    squares += (static_cast<double>(v) - 2) * (static_cast<double>(v) - 2);
  }
  EXPECT_NEAR(sum / 2000, 2, 0.05);
  EXPECT_NEAR(std::sqrt(squares / 2000), 0.5, 0.05);
}

}  // namespace
}  // namespace pitwall::test::ndarray_test
