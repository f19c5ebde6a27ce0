// A rule that found nothing is reported as such, but not where a fact was unknown: on the traces
// on which a rule fires, each fact of the trace is made unknown in turn, and the rule must still fire, or
// abstain.
#include "analyzer/rules/unknown_facts.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "analyzer/analysis.h"
#include "analyzer/analysis/setting_table.h"
#include "analyzer/rules/rule_set.h"
#include "analyzer/rules/run_rule.h"
#include "analyzer/rules/sql_text.h"
#include "db/reader.h"
#include "tests/support/read_all.h"
#include "tests/support/temp_folder.h"
#include "tests/support/trace_text.h"

namespace pitwall::unknown_facts_test {
namespace {

namespace fs = std::filesystem;
using test::readAll;

const fs::path kCases = PITWALL_RULE_CASES;
const fs::path kRules = PITWALL_RULE_FOLDER;

// The rule's outcome with these columns of analysis_summary.
std::string outcomeOf(const rules::Rule& rule, Trace& trace) {
  const auto outcome = rules::runRule(rule, trace, analysis::settingStates(trace), 1);
  if (!outcome.has_value()) return outcome.error().message;
  if (std::holds_alternative<rules::Silent>(outcome.value())) return "silent";
  return std::holds_alternative<Abstention>(outcome.value()) ? "abstains" : "fires";
}

void run(Trace& trace, const std::string& sql) {
  const auto result = trace.query(sql);
  ASSERT_TRUE(result.has_value()) << result.error().message;
}

// Facts that are always known: counts, and what follows from the events alone.
bool isAlwaysKnown(const std::string& fact) {
  static const std::vector<std::string> kKnown{"iteration_source",
                                               "repetitions_per_iteration",
                                               "iterations",
                                               "steady_iterations",
                                               "outlier_iterations",
                                               "wall_ns",
                                               "coverage",
                                               "has_samples",
                                               "has_ranges",
                                               "has_library_calls",
                                               "has_operators",
                                               "has_devices",
                                               "logged_library",
                                               "unattributed_share",
                                               "operators_per_iteration",
                                               "operator_total_ns",
                                               "operator_tracks",
                                               "data_work_tracks",
                                               "lost_events",
                                               "losses",
                                               "trace_complete",
                                               "framework",
                                               "timeline_kind",
                                               "devices",
                                               "ranks",
                                               "kernels",
                                               "collectives",
                                               "copies"};
  return std::find(kKnown.begin(), kKnown.end(), fact) != kKnown.end();
}

class UnknownFacts : public testing::TestWithParam<fs::path> {};

TEST_P(UnknownFacts, DoNotSilenceTheRule) {
  const std::string id = GetParam().parent_path().lexically_relative(kCases).string();
  std::string file = id;
  std::replace(file.begin(), file.end(), '-', '_');
  test::TempFolder folder;
  fs::copy_file(kRules / (file + ".toml"), folder / "rule.toml");
  const auto rule = rules::readRuleFile(folder / "rule.toml");
  ASSERT_TRUE(rule.has_value()) << rule.error().message;
  const std::string path = folder / "trace.pitwall";
  ASSERT_TRUE(test::makeTraceFile(readAll(GetParam()), path).has_value());
  auto trace = Trace::open(path);
  ASSERT_TRUE(trace.has_value());
  ASSERT_TRUE(analyzeTrace(*trace.value(), {{folder.path().string()}, {}}).has_value())
      << "with this rule alone";
  ASSERT_EQ(outcomeOf(rule.value(), *trace.value()), "fires");

  run(*trace.value(), "CREATE TEMP TABLE known_facts AS SELECT * FROM analysis_summary");
  const auto facts = trace.value()->query("SELECT * FROM analysis_summary");
  ASSERT_TRUE(facts.has_value());
  const std::string sql = rule.value().measure.text;
  for (const auto& fact : facts.value().columns) {
    if (isAlwaysKnown(fact) || !rules::mentions(sql, fact) || rules::handlesUnknown(sql, fact)) continue;
    run(*trace.value(), "UPDATE temp.analysis_summary SET " + fact + " = NULL");
    EXPECT_NE(outcomeOf(rule.value(), *trace.value()), "silent")
        << id << " says that it found nothing where " << fact << " is unknown";
    run(*trace.value(),
        "UPDATE temp.analysis_summary SET " + fact + " = (SELECT " + fact + " FROM known_facts)");
  }
}

std::vector<fs::path> firingCases() {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::recursive_directory_iterator(kCases)) {
    if (entry.path().extension() == ".txt" && entry.path().filename().string().rfind("fires", 0) == 0)
      cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

std::string caseName(const testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.lexically_relative(kCases).replace_extension().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '-'; }, '_');
  return name;
}

// Each would be asked for again with every value.
TEST(UnknownFactsOfAMeasure, ThoseThatAreOnlyPrintedDecideNothing) {
  test::TempFolder folder;
  const std::string path = folder / "trace.pitwall";
  ASSERT_TRUE(test::makeTraceFile(readAll(firingCases().front()), path).has_value());
  auto trace = Trace::open(path);
  ASSERT_TRUE(trace.has_value());
  ASSERT_TRUE(analyzeTrace(*trace.value(), {}).has_value());
  run(*trace.value(), "UPDATE temp.analysis_summary SET usable_cpus = NULL, openmp_threads = NULL");
  const auto ask = [&](const std::string& condition) {
    auto unknown = rules::unknownFactsOf(
        "SELECT s.usable_cpus AS cpus, s.openmp_threads AS threads FROM "
        "analysis_summary s, (SELECT max(iterations) AS most FROM "
        "analysis_summary) AS m WHERE " +
            condition,
        {}, *trace.value());
    EXPECT_TRUE(unknown.has_value()) << unknown.error().message;
    return unknown.value();
  };
  EXPECT_THAT(ask("m.most < 0").columns, testing::IsEmpty());
  EXPECT_THAT(ask("m.most < 0 OR s.usable_cpus > 8").columns, testing::ElementsAre("usable_cpus"));
  EXPECT_TRUE(ask("m.most < 0 OR s.usable_cpus > 8").could_fire);
  EXPECT_FALSE(ask("m.most < 0 AND s.usable_cpus > 8").could_fire);
}

INSTANTIATE_TEST_SUITE_P(Rules, UnknownFacts, testing::ValuesIn(firingCases()), caseName);

}  // namespace
}  // namespace pitwall::unknown_facts_test
