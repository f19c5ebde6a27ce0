// What an import counts, and the places that its messages name.
#include "db/import/build/tally.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "db/import/input/byte_source.h"
#include "db/import/input/window.h"
#include "tests/db/import/imported.h"

namespace pitwall::test::tally_test {
namespace {

TEST(Tally, AnExampleIsMadeOnce) {
  ImportSummary summary;
  import::Tally tally(summary);
  int made = 0;
  const auto example = [&] { return "example " + std::to_string(++made); };
  for (int i = 0; i < 3; ++i) {
    tally.notUnderstood("a", example);
    tally.repaired("b", example);
    tally.dropped("c", example);
  }
  EXPECT_EQ(made, 3);
  EXPECT_EQ(summary.not_understood.at("a").count, 3);
  EXPECT_EQ(summary.not_understood.at("a").example, "example 1");
  EXPECT_EQ(summary.dropped.at("c").example, "example 3");
}

// Lines are counted once, whatever places have been asked for.
TEST(Window, PlacesNameByteAndLine) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::string(static_cast<std::size_t>(i % 7), 'x') + "\n";
  const TemporaryFile file(text);
  const ImportOptions options;
  const auto source = import::ByteSource::open(file.path(), options.limits);
  ASSERT_TRUE(source.has_value());
  import::Window window(**source, options, file.path());
  std::size_t at = 0;
  while (true) {
    while (window.view().size() < 1000 && !window.atEnd()) ASSERT_TRUE(window.more(1 << 20).has_value());
    if (window.view().empty()) break;
    const auto lines = [&](std::size_t to) {
      return 1 + std::count(text.begin(), text.begin() + static_cast<long>(to), '\n');
    };
    if (at % 3 != 0) {
      ASSERT_EQ(window.line(), lines(at));
      const std::size_t ahead = std::min<std::size_t>(500, window.view().size());
      ASSERT_EQ(window.place(ahead),
                "byte " + std::to_string(at + ahead) + ", line " + std::to_string(lines(at + ahead)));
    }
    const std::size_t step = std::min<std::size_t>(1777, window.view().size());
    window.take(step);
    at += step;
  }
  EXPECT_EQ(at, text.size());
}

}  // namespace
}  // namespace pitwall::test::tally_test
