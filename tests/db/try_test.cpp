#include "db/try.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace pitwall::try_test {
namespace {

Result<std::string> textOf(int number) {
  if (number < 0) return fail(ErrorCode::invalidInput, "-1 is not a count; give 0 or more");
  return std::to_string(number);
}

Status checkCount(int number) {
  if (number < 0) return fail(ErrorCode::notFound, "no count");
  return {};
}

Result<std::size_t> digits(int number) {
  const std::string text = PITWALL_TRY(textOf(number));
  return text.size();
}

TEST(Try, IsTheValue) {
  const Result<std::size_t> result = digits(1234);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(*result, 4u);
}

TEST(Try, PassesTheErrorOn) {
  const Result<std::size_t> result = digits(-1);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::invalidInput);
  EXPECT_EQ(result.error().message, "-1 is not a count; give 0 or more");
}

TEST(Try, MovesAValueThatCannotBeCopied) {
  const auto make = [](bool works) -> Result<std::unique_ptr<int>> {
    if (!works) return fail(ErrorCode::io, "the cable is out");
    return std::make_unique<int>(7);
  };
  const auto use = [&](bool works) -> Result<int> {
    const std::unique_ptr<int> owner = PITWALL_TRY(make(works));
    return *owner;
  };
  EXPECT_EQ(use(true).value_or(0), 7);
  EXPECT_EQ(use(false).error().code, ErrorCode::io);
}

TEST(Try, OfAStatusReturnsOrGoesOn) {
  int passed = 0;
  const auto use = [&](int number) -> Status {
    PITWALL_TRY(checkCount(number));
    ++passed;
    return {};
  };
  EXPECT_TRUE(use(0).has_value());
  EXPECT_EQ(passed, 1);
  const Status failed = use(-1);
  EXPECT_EQ(passed, 1);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::notFound);
  EXPECT_EQ(failed.error().message, "no count");
}

TEST(Try, IsOneStatement) {
  const auto use = [](bool first) -> Status {
    if (first)
      PITWALL_TRY(checkCount(-1));
    else
      PITWALL_TRY(checkCount(1));
    return {};
  };
  EXPECT_FALSE(use(true).has_value());
  EXPECT_TRUE(use(false).has_value());
}

TEST(Try, MovesTheValueOutOfAVariable) {
  const auto use = [](Result<std::unique_ptr<int>>& held) -> Result<int> {
    const std::unique_ptr<int> owner = PITWALL_TRY(held);
    return *owner;
  };
  Result<std::unique_ptr<int>> held = std::make_unique<int>(3);
  EXPECT_EQ(use(held).value_or(0), 3);
  EXPECT_EQ(*held, nullptr);
  held = fail(ErrorCode::io, "gone");
  EXPECT_EQ(use(held).error().message, "gone");
  EXPECT_EQ(held.error().message, "gone");
}

TEST(Try, CopiesTheValueOfAConstant) {
  const auto use = [](const Result<std::string>& held) -> Result<std::size_t> {
    const std::string text = PITWALL_TRY(held);
    return text.size();
  };
  const Result<std::string> held = std::string("seven");
  EXPECT_EQ(use(held).value_or(0), 5u);
  EXPECT_EQ(*held, "seven");
}

TEST(Try, EvaluatesItsArgumentOnce) {
  int calls = 0;
  const auto count = [&](int number) {
    ++calls;
    return textOf(number);
  };
  const auto use = [&](int number) -> Result<std::string> { return PITWALL_TRY(count(number)); };
  EXPECT_EQ(use(5).value_or(""), "5");
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(use(-1).has_value());
  EXPECT_EQ(calls, 2);
}

TEST(Try, TakesCommasAndAnotherOne) {
  const auto sum = [](std::pair<int, int> both) -> Result<int> { return both.first + both.second; };
  const auto use = [&]() -> Result<int> {
    return PITWALL_TRY([&]() -> Result<int> {
      int all = PITWALL_TRY(sum(std::pair<int, int>{1, 2}));
      return all + 1;
    }());
  };
  EXPECT_EQ(use().value_or(0), 4);
}

TEST(Try, DestroysWhatWasMadeBefore) {
  const auto watched = std::make_shared<int>(1);
  const auto use = [&](std::shared_ptr<int> held, int number) -> Result<std::string> {
    const std::shared_ptr<int> also = held;
    std::string text = PITWALL_TRY(textOf(number));
    return text;
  };
  EXPECT_FALSE(use(watched, -1).has_value());
  EXPECT_TRUE(use(watched, 1).has_value());
  EXPECT_EQ(watched.use_count(), 1);
}

}  // namespace
}  // namespace pitwall::try_test
