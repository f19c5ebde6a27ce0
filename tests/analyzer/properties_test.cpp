// What holds of every analysis, over random traces: the parts sum to the whole, and nothing depends on the order of
// rows or on how many are shown.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include "analyzer/emit.h"
#include "tests/analyzer/story.h"
#include "tests/support/temp_folder.h"

namespace pitwall::test::properties_test {
namespace {

// Every row of every table that the analyses wrote.
std::string tablesOf(const AnalyzedStory& a) {
  std::string text;
  const auto names = a.rows(
      "SELECT name FROM sqlite_temp_master WHERE type = 'table' AND name LIKE 'analysis%' ORDER BY name");
  EXPECT_GE(names.rows.size(), 20U);
  for (const auto& name : names.rows) {
    const auto& table = std::get<std::string>(name[0]);
    text += table + "\n";
    for (const auto& row : a.rows("SELECT * FROM temp." + table).rows) {
      for (const auto& value : row) {
        if (const auto* integer = std::get_if<std::int64_t>(&value)) text += fmt::format("{},", *integer);
        if (const auto* real = std::get_if<double>(&value)) text += fmt::format("{},", *real);
        if (const auto* word = std::get_if<std::string>(&value)) text += *word + ",";
        if (std::holds_alternative<std::monostate>(value)) text += "null,";
      }
      text += "\n";
    }
  }
  return text;
}

TEST(Properties, EveryAnalysisSumsToItsWhole) {
  const TempFolder folder;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const auto path = folder / fmt::format("{}.pitwall", seed);
    const auto story = Author(seed).write(6 + static_cast<int>(seed), 12);
    writeStory(story, 0, path);
    const auto a = analyzed(path);
    EXPECT_EQ(
        a.number(
            "SELECT count(*) FROM analysis_iteration WHERE dur_ns <> forward_ns + backward_ns + update_ns "
            "+ other_operators_ns + communication_ns + data_wait_ns + engine_overhead_ns + idle_ns + "
            "unattributed_ns"),
        0);
    EXPECT_EQ(
        a.number("SELECT count(*) FROM analysis_device WHERE span_ns <> computation_ns + communication_ns + "
                 "copies_ns + data_wait_ns + synchronisation_ns + host_wait_ns + kernel_wait_ns + idle_ns OR "
                 "span_ns <> busy_ns + all_idle_ns"),
        0);
    EXPECT_EQ(a.number("SELECT count(*) FROM analysis_device"), 1);
    TimeNs parts = 0;
    for (const auto& part : a.report.breakdown.shares) parts += part.total_ns;
    EXPECT_EQ(parts, a.report.breakdown.wall_ns);
    EXPECT_EQ(a.number("SELECT count(*) FROM (SELECT total(share) AS whole FROM analysis_critical) WHERE "
                       "abs(whole - 1) < 1e-9"),
              1)
        << "the path is as long as the iterations that it crosses";
    // The events themselves are the independent check.
    std::map<std::string, TimeNs> totals;
    for (const auto& written : story.events) totals[written.name] += written.event.dur_ns;
    for (const auto& [name, total] : totals)
      EXPECT_EQ(a.number(fmt::format("SELECT sum(total_ns) FROM analysis_name WHERE name = '{}'", name)),
                total);
    EXPECT_EQ(a.number("SELECT sum(count) FROM analysis_name"),
              static_cast<std::int64_t>(story.events.size()));
    EXPECT_EQ(a.number("SELECT sum(count) FROM analysis_call"),
              totals.count("cudaLaunchKernel") == 0 ? -1
                                                    : a.number("SELECT sum(count) FROM analysis_name "
                                                               "WHERE name = 'cudaLaunchKernel'"));
  }
}

TEST(Properties, NothingDependsOnTheOrderOfRows) {
  const TempFolder folder;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const auto story = Author(seed).write(8, 12);
    const auto path = folder / "a.pitwall";
    writeStory(story, 0, path);
    const auto expected = reportAsJson(analyzed(path).report);
    for (unsigned order = 1; order <= 3; ++order) {
      SCOPED_TRACE(fmt::format("seed {}, order {}", seed, order));
      const auto shuffled = folder / fmt::format("{}-{}.pitwall", seed, order);
      writeStory(story, order, shuffled);
      EXPECT_EQ(reportAsJson(analyzed(shuffled).report), expected);
    }
  }
}

TEST(Properties, NothingDependsOnHowManyRowsAreShown) {
  const TempFolder folder;
  const auto path = folder / "a.pitwall";
  writeStory(Author(7).write(12, 16), 0, path);
  auto few = analyzed(path, 1).report, many = analyzed(path, 1000).report;
  ASSERT_FALSE(many.findings.empty());
  for (auto* report : {&few, &many}) {
    for (auto& finding : report->findings) {
      EXPECT_LE(finding.evidence.rows.size(), static_cast<std::size_t>(finding.evidence.total_rows));
      if (report == &many) {
        EXPECT_EQ(finding.evidence.rows.size(), static_cast<std::size_t>(finding.evidence.total_rows));
      }
      finding.evidence.rows.clear();
    }
  }
  EXPECT_EQ(reportAsJson(few), reportAsJson(many));
}

TEST(Properties, NothingDependsOnHowManyEventsAreReadAtATime) {
  const TempFolder folder;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    auto story = Author(seed).write(8, 12);
    if (seed % 2 == 0) story.marks.clear();  // iterations are found from the sequence of operators
    const auto path = folder / fmt::format("{}.pitwall", seed);
    writeStory(story, seed, path);
    const auto whole = analyzed(path);
    const auto tables = tablesOf(whole);
    for (const std::size_t at_once : {1, 7, 40, 150}) {
      SCOPED_TRACE(fmt::format("seed {}, {} at once", seed, at_once));
      const auto chunked = analyzed(path, 5, at_once);
      EXPECT_EQ(tablesOf(chunked), tables);
      EXPECT_EQ(reportAsJson(chunked.report), reportAsJson(whole.report));
    }
  }
}

TEST(Properties, AnAnalysisThatIsAskedToStopSaysSo) {
  const TempFolder folder;
  const auto path = folder / "a.pitwall";
  writeStory(Author(1).write(4, 8), 0, path);
  auto trace = Trace::open(path);
  ASSERT_TRUE(trace.has_value());
  std::atomic<bool> cancel = false;
  AnalyzeOptions options;
  options.rule_folders = {PITWALL_RULE_FOLDER};
  options.cancel = &cancel;
  EXPECT_TRUE(analyzeTrace(**trace, options).has_value());
  cancel = true;
  const auto report = analyzeTrace(**trace, options);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace pitwall::test::properties_test
