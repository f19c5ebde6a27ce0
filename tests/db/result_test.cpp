#include "db/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>

namespace pitwall::result_test {
namespace {

static_assert(!std::is_convertible_v<Result<int>, bool>);
static_assert(!std::is_constructible_v<bool, Result<int>>);
static_assert(!std::is_constructible_v<bool, Status>);
static_assert(sizeof(Status) == sizeof(void*));

TEST(Result, HoldsAValue) {
  Result<std::string> result = std::string("seven");
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(*result, "seven");
  EXPECT_EQ(result->size(), 5u);
  EXPECT_EQ(result.value_or("other"), "seven");
}

TEST(Result, HoldsAnError) {
  const Result<int> result = fail(ErrorCode::notFound, "no such file 'x'; check the path");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::notFound);
  EXPECT_EQ(result.error().message, "no such file 'x'; check the path");
  EXPECT_EQ(result.value_or(3), 3);
}

TEST(Result, PassesAnErrorOn) {
  const Result<int> inner = fail(ErrorCode::io, "the disk is full");
  const Result<std::string> outer = fail(inner.error());
  EXPECT_EQ(outer.error().code, ErrorCode::io);
  EXPECT_EQ(outer.error().message, "the disk is full");
}

TEST(Result, MovesItsValueOut) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(4);
  const std::unique_ptr<int> owner = std::move(result).value();
  EXPECT_EQ(*owner, 4);
}

TEST(Result, FalseIsAValue) {
  const Result<bool> result = false;
  ASSERT_TRUE(result.has_value());
  EXPECT_FALSE(*result);
}

TEST(Status, IsFineByDefault) {
  EXPECT_TRUE(Status().has_value());
  const Status failed = fail(ErrorCode::cancelled, "stopped");
  EXPECT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::cancelled);
}

TEST(ResultDeathTest, ReadingAMissingValueNamesTheError) {
  const Result<int> result = fail(ErrorCode::io, "the cable is out");
  EXPECT_DEATH((void)result.value(), "the cable is out");
  const Status status = fail(ErrorCode::io, "the plug is out");
  EXPECT_DEATH(status.value(), "the plug is out");
}

}  // namespace
}  // namespace pitwall::result_test
