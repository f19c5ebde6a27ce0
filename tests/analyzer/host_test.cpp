// What a recording says of the program's end and of the machine around it, from made-up traces.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/analyzer/analyzed.h"
#include "tests/support/trace_text.h"

namespace pitwall {
namespace {

std::unique_ptr<test::Analyzed> analyzed(const std::string& text) {
  auto result = std::make_unique<test::Analyzed>();
  result->path =
      (std::filesystem::path(testing::TempDir()) / fmt::format("pitwall-host-{}.pitwall", getpid())).string();
  EXPECT_TRUE(test::makeTraceFile(text, result->path).has_value());
  auto trace = Trace::open(result->path);
  EXPECT_TRUE(trace.has_value());
  if (!trace.has_value()) return result;
  result->trace = std::move(trace).value();
  auto report = analyzeTrace(*result->trace, {.rule_folders = {PITWALL_RULE_FOLDER}});
  EXPECT_TRUE(report.has_value()) << (report.has_value() ? "" : report.error().message);
  if (report.has_value()) result->report = std::move(report).value();
  return result;
}

// exit_code, exit_signal, shell_signal, oom; "-" = not known.
std::string endOf(const std::string& text) {
  std::string line;
  const auto result = analyzed(text);
  const auto rows =
      result->rows("SELECT exit_code, exit_signal, shell_signal, oom FROM analysis_summary").rows;
  if (rows.empty()) return "no facts";
  for (const auto& value : rows[0]) {
    const auto* number = std::get_if<std::int64_t>(&value);
    line += (line.empty() ? "" : " ") + (number != nullptr ? std::to_string(*number) : "-");
  }
  return line;
}

TEST(ProgramEnd, IsAFactOfTheTrace) {
  EXPECT_EQ(endOf("meta trace.producer x\n"), "- - - -") << "not recorded";
  EXPECT_EQ(endOf("meta process.exit_code 0\nmeta process.oom_kills 3\n"), "0 - - 0");
  EXPECT_EQ(endOf("meta process.exit_code 1\n"), "1 - - 0");
  EXPECT_EQ(endOf("meta process.exit_code 0\nmeta process.exit_signal 11\n"), "- 11 - 0");
  EXPECT_EQ(endOf("meta process.exit_code 139\n"), "139 - 11 0");
  EXPECT_EQ(endOf("meta process.exit_signal 9\n"), "- 9 - -") << "nobody counted what was killed for memory";
  EXPECT_EQ(endOf("meta process.exit_signal 9\nmeta process.oom_kills 0\nmeta host.oom_kills 1\n"),
            "- 9 - 0");
  EXPECT_EQ(endOf("meta process.exit_signal 9\nmeta process.oom_kills 1\n"), "- 9 - 1");
  EXPECT_EQ(endOf("meta process.exit_code 137\nmeta host.oom_kills 1\n"), "137 - 9 1");
  EXPECT_EQ(endOf("meta process.exit_code 255\n"), "255 - - 0");
}

}  // namespace
}  // namespace pitwall
