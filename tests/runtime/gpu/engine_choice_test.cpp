// The choice among a library's engines, from times as a GPU would have given them.
#include "runtime/backend/cuda/engine_choice.h"

#include <gmock/gmock.h>

namespace pitwall::cuda::engine_choice_test {
namespace {

using testing::ElementsAre;
constexpr std::int64_t kMiB = 1 << 20;

TEST(EngineChoice, ALimitLeavesOutLargeWorkspaces) {
  const std::vector<std::int64_t> workspaces{2048 * kMiB, 0, 1024 * kMiB};
  EXPECT_THAT(allowedEngines(workspaces, Autotune::limited, 1024 * kMiB), ElementsAre(1, 2));
  EXPECT_THAT(allowedEngines(workspaces, Autotune::off, 1024 * kMiB), ElementsAre(1, 2));
  EXPECT_THAT(allowedEngines(workspaces, Autotune::all, 1024 * kMiB), ElementsAre(0, 1, 2));
}

TEST(EngineChoice, OneThatIsTooLargeIsBetterThanNone) {
  const std::vector<std::int64_t> workspaces{3 * kMiB, 2 * kMiB};
  EXPECT_THAT(allowedEngines(workspaces, Autotune::limited, kMiB), ElementsAre(1));
  EXPECT_THAT(allowedEngines({}, Autotune::limited, kMiB), ElementsAre());
}

TEST(EngineChoice, TheFastestOfThoseThatRan) {
  const std::vector<std::string> names{"engine 1", "engine 2", "engine 3"};
  const auto best = fastestEngine({3e-4, std::nullopt, 2e-4}, names);
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->number, 2U);
  EXPECT_EQ(best->name, "engine 3");
  EXPECT_EQ(fastestEngine({2e-4, 2e-4, 3e-4}, names)->number, 0U)
      << "the library's order where they are equal";
  EXPECT_FALSE(fastestEngine({std::nullopt, std::nullopt, std::nullopt}, names).has_value());
}

TEST(EngineChoice, ATextIsAChoiceAmongTheSameEngines) {
  const std::vector<std::string> names{"engine 1", "engine 67 tensor core"};
  const EngineChoice choice{.number = 1, .seconds = 1.24e-4, .name = names[1]};
  const auto read = EngineChoice::of(choice.text(), names);
  ASSERT_TRUE(read.has_value()) << choice.text();
  EXPECT_EQ(read->number, 1U);
  EXPECT_DOUBLE_EQ(read->seconds, 1.24e-4);
  EXPECT_EQ(read->name, names[1]);
  const std::vector<std::string> others{"engine 67 tensor core", "engine 1"};
  EXPECT_FALSE(EngineChoice::of(choice.text(), others).has_value());
  for (const char* const text : {"", "1", "7 0.1 engine 1", "1 x engine 67 tensor core", "0 -1 engine 1"})
    EXPECT_FALSE(EngineChoice::of(text, names).has_value()) << text;
}

}  // namespace
}  // namespace pitwall::cuda::engine_choice_test
