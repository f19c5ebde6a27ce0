// Drives the real `pitwall` executable: what it prints, writes and returns.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "db/findings.h"
#include "tests/analyzer/command.h"

namespace pitwall::cli_test {
namespace {

using test::Command;
using test::readAll;
using testing::ContainsRegex;
using testing::HasSubstr;

TEST_F(Command, AnalyzePrintsFindingsBreakdownAndWritesSettings) {
  const auto run = pitwall("analyze " + trace_);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("1. HIGH: The program waits for its input [input/bound]"));
  EXPECT_THAT(run.out, ContainsRegex("data wait +18\\.0 ms +2\\.00 ms +33\\.3 %"));
  EXPECT_THAT(run.out, ContainsRegex("total +54\\.0 ms +6\\.00 ms +100 %"));
  EXPECT_THAT(run.out, HasSubstr("conv1 Convolution"));
  EXPECT_THAT(readAll(folder_ / "run.env"), HasSubstr("\nexport PITWALL_TUNE_prefetch_threads=1\n"));
}

TEST_F(Command, SchemaPrintsUnitAndMeaningOfAnalysisTables) {
  const auto run = pitwall("query --schema " + trace_);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("\nanalysis_iteration\n +An iteration\\."));
  EXPECT_THAT(run.out, ContainsRegex("\n +dur_ns +INTEGER +ns +duration\n"));
  EXPECT_THAT(run.out, ContainsRegex("\n +roof_share +REAL +ratio +the larger of both"));
}

TEST_F(Command, SimulatePredictsAnIterationAfterAChange) {
  const auto run = pitwall("simulate --what data_wait=0 " + trace_);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("An iteration +4\\.00 ms, from"));
  EXPECT_THAT(run.out, HasSubstr("CRITICAL PATH AFTER THE CHANGE"));
  const auto json = pitwall("simulate --json --what data_wait=0 " + trace_);
  EXPECT_EQ(askJson(json.out, "json_extract(:json, '$.prediction.middle_ns')"), "4000000");
  EXPECT_EQ(askJson(json.out, "json_extract(:json, '$.replay.predictable')"), "1");
  const auto wrong = pitwall("simulate --what speed=2 " + trace_);
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("'speed=2' is not a change that can be simulated"));
}

TEST_F(Command, SimulateWritesTheSimulatedTimesAsATrace) {
  const std::string out = (folder_ / "after.pitwall").string();
  const auto run = pitwall("simulate --what data_wait=0 -o " + out + " " + trace_);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("SIMULATED TIMELINE"));
  EXPECT_THAT(run.out, HasSubstr(out));
  EXPECT_THAT(pitwall("simulate " + out).out, HasSubstr("Iterations of 4.00 ms"));
  EXPECT_THAT(pitwall("analyze --no-env " + out).out, HasSubstr("The times of this trace are simulated"));
  const auto json = pitwall("simulate --json -o " + out + " " + trace_);
  EXPECT_EQ(askJson(json.out, "json_extract(:json, '$.timeline.path')"), out);
  for (const std::string& wrong : {trace_, std::string("-")}) {
    const auto refused = pitwall("simulate -o " + wrong + " " + trace_);
    EXPECT_EQ(refused.code, 2) << wrong;
  }
  EXPECT_EQ(pitwall("simulate " + trace_).code, 0) << "the trace itself is as it was";
  EXPECT_NE(pitwall("simulate -o " + (folder_ / "none" / "x.pitwall").string() + " " + trace_).code, 0);
}

TEST_F(Command, AnalyzingAgainKeepsWhatAnExperimentSaidOfAFinding) {
  const auto statusOf = [&] {
    return askJson(pitwall("analyze --no-env --format json " + trace_).out,
                   "json_extract(:json, '$.findings[0].status')");
  };
  ASSERT_EQ(statusOf(), "not tested");
  FindingRow tested;
  tested.id = "input/bound";
  tested.severity = "high";
  tested.status = "confirmed";
  {
    auto trace = Trace::open(trace_);
    ASSERT_TRUE(trace.has_value());
    const auto saved =
        (*trace)->query("SELECT name, proposed FROM proposal WHERE finding_id = 1 ORDER BY id");
    ASSERT_TRUE(saved.has_value());
    for (const auto& row : saved->rows)
      tested.proposals.push_back({std::get<std::string>(row[0]), "0", std::get<std::string>(row[1]), ""});
  }
  ASSERT_FALSE(tested.proposals.empty());
  ASSERT_TRUE(saveFindings(trace_, std::vector{tested}).has_value());
  EXPECT_EQ(statusOf(), "confirmed");
  EXPECT_EQ(statusOf(), "confirmed") << "it is saved again";
  tested.proposals.front().proposed = "8";
  ASSERT_TRUE(saveFindings(trace_, std::vector{tested}).has_value());
  EXPECT_EQ(statusOf(), "not tested") << "another value was tested";
}

TEST_F(Command, TheSameTraceGivesTheSameReport) {
  const auto first = pitwall("analyze " + trace_);
  EXPECT_EQ(first.out, pitwall("analyze " + trace_).out);
}

TEST_F(Command, JsonIsValidAndSaysTheSame) {
  const auto run = pitwall("analyze --format json " + trace_);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(askJson(run.out, "json_valid(:json)"), "1");
  EXPECT_EQ(askJson(run.out, "json_extract(:json, '$.schema_version')"), "1");
  EXPECT_EQ(askJson(run.out, "json_extract(:json, '$.findings[0].id')"), "input/bound");
  EXPECT_EQ(askJson(run.out, "json_extract(:json, '$.findings[0].proposals[0].proposed')"), "1");
  std::string sum = "0";
  for (int i = 0; i < 8; ++i)
    sum += fmt::format(" + json_extract(:json, '$.breakdown.shares[{}].total_ns')", i);
  EXPECT_EQ(askJson(run.out, sum), askJson(run.out, "json_extract(:json, '$.breakdown.wall_ns')"));
  EXPECT_EQ(askJson(run.out, "json_array_length(:json, '$.breakdown.shares')"), "8");
}

TEST_F(Command, FindingsAreSavedInTheTrace) {
  ASSERT_EQ(pitwall("analyze " + trace_).code, 0);
  EXPECT_EQ(askJson("", "(SELECT group_concat(rule) FROM finding WHERE :json = '')"), "input/bound");
}

TEST_F(Command, FailOnDecidesTheExitCode) {
  EXPECT_EQ(pitwall("analyze --fail-on high " + trace_).code, 1);
  EXPECT_EQ(pitwall("analyze --fail-on high --disable input/bound " + trace_).code, 0);
  EXPECT_EQ(pitwall("analyze --fail-on info --set input/bound.share=0.9 " + trace_).code, 0);
}

TEST_F(Command, HelpAndVersionAreNoErrors) {
  auto run = pitwall("--help");
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, HasSubstr("Exit codes:"));
  run = pitwall("--version");
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, ContainsRegex("^pitwall [0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST_F(Command, RulesAreListedAndShown) {
  EXPECT_THAT(pitwall("rules list").out, HasSubstr("input/bound"));
  EXPECT_THAT(pitwall("rules show input/bound").out, HasSubstr("input/bound.share = 0.05"));
  EXPECT_EQ(pitwall("rules show no/rule").code, 2);
}

TEST_F(Command, EnvExplainsSettings) {
  auto run = pitwall("env", "MXNET_CPU_WORKER_NTHREADS=3");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("MXNET_CPU_WORKER_NTHREADS +3\\* +1 +honoured"));
  run = pitwall("env MXNET_CPU_WORKER_NTHREADS", "MXNET_CPU_WORKER_NTHREADS=3");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("value +3 \\(environment\\)"));
  run = pitwall("env MXNET_CPU_WORKER_NTHREADS", "MXNET_CPU_WORKER_NTHREADS=many");
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("MXNET_CPU_WORKER_NTHREADS"));
  run = pitwall("env MXNET_CPU_WORKER_THREADS");
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("MXNET_CPU_WORKER_NTHREADS"));
}

}  // namespace
}  // namespace pitwall::cli_test
