// The first lines of a report: of made-up reports and of made-up recordings.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "analyzer/emit.h"
#include "analyzer/emit/utf8.h"
#include "tests/analyzer/analyzed.h"
#include "tests/support/trace_text.h"

namespace pitwall::overview_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

Finding findingOf(const std::string& id, Severity severity, double low, double high) {
  Finding finding;
  finding.id = id;
  finding.title = "Title of " + id;
  finding.severity = severity;
  finding.gain_low = low;
  finding.gain_high = high;
  finding.gain_method = "A method.";
  return finding;
}

Report reportOf(std::vector<TimeShare> shares) {
  Report report;
  report.trace_path = "run.pitwall";
  report.coverage = "operators";
  report.breakdown.iterations = 10;
  report.breakdown.wall_ns = 1'000'000;
  report.breakdown.iteration_source = "marks";
  report.breakdown.shares = std::move(shares);
  return report;
}

TEST(Overview, SaysInPlainWordsWhereTheTimeGoes) {
  const auto report = reportOf({{"forward", 0, 0.10},
                                {"backward", 0, 0.13},
                                {"data wait", 0, 0.06},
                                {"idle", 0, 0.706},
                                {"engine overhead", 0, 0.004}});
  EXPECT_EQ(overviewOf(report).time, "71 % the program's own code, 23 % computation, 6 % waiting for data");
}

// A script that imports for 1.4 s and works for 0.3 s.
Report shortRun() {
  auto report = reportOf({{"forward", 0, 0.9}, {"idle", 0, 0.1}});
  report.end.exit_code = 0;
  report.end.ran_ns = 1'700'000'000;
  report.code.first_iteration_ns = 1'440'000'000;
  report.code.startup_ns = 1'000'000'000;
  report.code.startup = {{"<module>", "/home/joe/train.py", 6, 970'000'000, true},
                         {"<module>", "/home/joe/train.py", 45, 28'000'000, false},
                         {"<module>", "/home/joe/train.py", 46, 2'000'000, false}};
  return report;
}

TEST(Overview, StartUpThatTakesMostOfTheRunIsNamedWithItsParts) {
  auto report = shortRun();
  const Overview overview = overviewOf(report);
  EXPECT_EQ(overview.startup,
            "1.44 s of 1.70 s, before the first iteration: 97 % at train.py:6 (imports), 3 % at train.py:45");
  EXPECT_EQ(overview.time, "of the iterations: 90 % computation, 10 % the program's own code");
  const std::string text = reportAsText(report);
  EXPECT_LT(text.find("Start-up  1.44 s"), text.find("Time      of the iterations"));
  report.code.first_iteration_ns = 800'000'000;  // less than half
  EXPECT_EQ(overviewOf(report).startup, "");
  EXPECT_EQ(overviewOf(report).time, "90 % computation, 10 % the program's own code");
  report = shortRun();
  report.end.ran_ns = 0;  // not a recording of a whole run
  EXPECT_EQ(overviewOf(report).startup, "");
}

TEST(Overview, ARunOfStartUpAndFewIterationsGetsNoAdviceOnThem) {
  auto report = shortRun();
  report.findings = {findingOf("threads/blocktime", Severity::medium, 0, 0.18),
                     findingOf("quality/too-few-steps", Severity::info, 0, 0)};
  report.findings[0].title = "Waiting threads spin";
  report.findings[1].title = "Too few iterations to judge";
  const Overview few = overviewOf(report);
  EXPECT_EQ(few.first,
            "record a run of at least 6 iterations, preferably 50 (finding 2: Too few iterations to judge)");
  EXPECT_EQ(few.finding, "quality/too-few-steps");
  EXPECT_EQ(few.gain, "");
  EXPECT_EQ(few.then, "Waiting threads spin");
  report.end.exit_code = 1;
  EXPECT_THAT(overviewOf(report).first, HasSubstr("Waiting threads spin")) << "the failure has a finding";
  report.end.exit_code = 0;
  report.findings.pop_back();
  EXPECT_EQ(overviewOf(report).finding, "threads/blocktime");
  EXPECT_EQ(overviewOf(report).startup, few.startup);
}

// Hours of training with a few iterations recorded: they are what the run is about.
TEST(Overview, FewIterationsThatTakeTheRunAreAdvisedOn) {
  auto report = shortRun();
  report.code.first_iteration_ns = 100'000'000;
  report.findings = {findingOf("threads/blocktime", Severity::medium, 0, 0.18),
                     findingOf("quality/too-few-steps", Severity::info, 0, 0)};
  EXPECT_EQ(overviewOf(report).finding, "threads/blocktime");
}

TEST(Overview, TimeThatCouldNotBeSeenIsNotCalledIdle) {
  auto report = reportOf({{"forward", 0, 0.28}, {"unattributed", 0, 0.72}});
  report.coverage = "library calls";
  report.logged_library = "oneDNN";
  EXPECT_EQ(overviewOf(report).time, "72 % not recorded, 28 % calls of oneDNN");
  EXPECT_THAT(overviewOf(report).limits, HasSubstr("Only calls of oneDNN were recorded"));
  report = reportOf({{"unattributed", 0, 1}});
  report.coverage = "samples";
  report.sampled = SampledUse{"python3", 0.98, 980'000'000, 1'000'000'000, 0};
  EXPECT_THAT(overviewOf(report).time, HasSubstr("python3 kept 0.98 CPU busy on average over 1.00 s"));
  report.sampled->usable_cpus = 2;
  EXPECT_THAT(overviewOf(report).time, HasSubstr("python3 kept 0.98 of 2 CPUs busy on average over 1.00 s"));
  report.sampled->processes = 3;
  report.sampled->all_cpus = 1.87;
  EXPECT_THAT(
      overviewOf(report).time,
      HasSubstr("3 processes, python3 the busiest, kept 1.87 of 2 CPUs busy on average over 1.00 s; their"));
  report.sampled->processes = 1;
  report.sampled->usable_cpus = 0;
  const auto row = [](const char* function, std::int64_t line, TimeNs self_ns) {
    CodeRow made;
    made.function = function;
    made.file = "/home/joe/train.py";
    made.line = line;
    made.self_ns = made.running_ns = self_ns;
    return made;
  };
  EXPECT_THAT(overviewOf(report).limits, HasSubstr("Only CPU use and memory were sampled;"));
  // What waits most is first in the table, but keeps no CPU busy.
  report.code.rows = {row("wait", 3, 0), row("main", 19, 60), row("load", 7, 31), row("seldom", 9, 9)};
  report.code.rows[0].self_ns = report.code.rows[0].waiting_ns = 500;
  report.code.self_ns = 600;
  report.code.busy_ns = 100;
  EXPECT_EQ(overviewOf(report).time,
            "python3 kept 0.98 CPU busy on average over 1.00 s; its operators were not recorded; 60 % of the "
            "sampled "
            "CPU time in main (train.py:19), 31 % in load (train.py:7)");
  report.code.rows[1].running_ns = 59;
  report.code.rows[1].lock_ns = 1;
  EXPECT_THAT(overviewOf(report).time,
              HasSubstr("60 % of the sampled CPU and GIL time in main (train.py:19)"));
  EXPECT_THAT(overviewOf(report).limits, HasSubstr("Only CPU use, memory and stacks were sampled;"));
  // Names are cut, functions without room are left out, and the limitation stays.
  report.code.rows[2].function = std::string(1000, 'x');
  EXPECT_THAT(overviewOf(report).time, EndsWith("in main (train.py:19)"));
  report.code.rows[1].function = std::string(1000, 'x');
  EXPECT_THAT(overviewOf(report).time,
              EndsWith("GIL time in " + std::string(39, 'x') + "\xE2\x80\xA6 (train.py:19)"));
  report.sampled->program = std::string(1000, 'p');
  EXPECT_THAT(overviewOf(report).time, HasSubstr("operators were not recorded"));
  EXPECT_LE(emit::columnsOf(overviewOf(report).time), 182U);
}

TEST(Overview, AProgramThatWaitsSaysWhere) {
  auto report = reportOf({{"unattributed", 0, 1}});
  report.coverage = "samples";
  report.sampled = SampledUse{"python3", 0.1, 100'000'000, 1'000'000'000, 2, 1, 0.1};
  report.code.longest_wait = {.function = "main",
                              .file = "/home/joe/train.py",
                              .line = 7,
                              .state = "waiting: lock or event",
                              .total_ns = 600'000'000};
  report.code.waiting_ns = 900'000'000;
  EXPECT_THAT(overviewOf(report).time,
              EndsWith("not recorded; the first thread waited 90 % of the time, most in main "
                       "(train.py:7): lock or event"));
  report.code.longest_wait.state = "sleeping";
  EXPECT_THAT(overviewOf(report).time, EndsWith("most in main (train.py:7), sleeping"));
  // Others compute for it, or it computes half of the time.
  report.sampled->all_cpus = 1.5;
  EXPECT_THAT(overviewOf(report).time, Not(HasSubstr("waited")));
  report.sampled->all_cpus = 0.1;
  report.code.waiting_ns = 400'000'000;
  EXPECT_THAT(overviewOf(report).time, Not(HasSubstr("waited")));
}

TEST(Overview, TextWithoutBlanksIsCutToo) {
  auto report = reportOf({{"forward", 0, 1}});
  report.findings = {findingOf("a/b", Severity::high, 0.1, 0.2)};
  report.findings[0].action = std::string(500, 'x');
  EXPECT_EQ(emit::columnsOf(overviewOf(report).first), 124U);
  report.findings[0].action = std::string(112, 'x');  // all that two lines hold
  EXPECT_EQ(overviewOf(report).first, std::string(112, 'x') + " (finding 1)");
}

TEST(Overview, NamesTheSettingTheGainAndHowSureItIs) {
  auto report = reportOf({{"forward", 0, 1}});
  report.findings = {findingOf("quality/noise", Severity::medium, 0, 0),
                     findingOf("threads/knee", Severity::medium, 0.1, 0.2),
                     findingOf("input/bound", Severity::low, 0.01, 0.1),
                     findingOf("gpu/idle", Severity::info, 0, 0)};
  report.findings[1].proposals = {{"OMP_NUM_THREADS", "2", "1", "why", false},
                                  {"OMP_PLACES", "x", "y", "why", true}};
  auto overview = overviewOf(report);
  EXPECT_EQ(overview.finding, "threads/knee");
  EXPECT_EQ(overview.first, "set OMP_NUM_THREADS=1 (finding 2: Title of threads/knee)");
  EXPECT_EQ(overview.gain,
            "about 15 % less time: 10 % to 20 % (1.11x to 1.25x the speed), medium confidence; predicted, "
            "not measured");
  EXPECT_EQ(overview.then, "Title of input/bound");
  report.findings.erase(report.findings.begin(), report.findings.begin() + 2);
  report.findings[0].action = "load ahead";
  EXPECT_EQ(overviewOf(report).first, "load ahead (finding 1)");
  report.findings.erase(report.findings.begin());
  EXPECT_EQ(overviewOf(report).finding, "");
  EXPECT_EQ(overviewOf(report).gain, "");
  EXPECT_EQ(overviewOf(report).first, "no setting was found that would make it faster");
  report.findings = {findingOf("gpu/idle", Severity::high, 0, 0.9997)};
  EXPECT_EQ(overviewOf(report).gain, "up to 100 % less time, medium confidence; predicted, not measured");
}

TEST(Overview, OnAVeryBusyMachineARecordingOnAQuietOneComesFirst) {
  auto report = reportOf({{"forward", 0, 1}});
  report.findings = {findingOf("host/other-programs", Severity::high, 0, 0),
                     findingOf("threads/knee", Severity::low, 0, 0.2)};
  report.findings[0].first = 2;
  const Overview both = overviewOf(report);
  EXPECT_EQ(both.first, "record again on a quiet machine (finding 1: Title of host/other-programs)");
  EXPECT_EQ(both.finding, "host/other-programs");
  EXPECT_EQ(both.gain, "");
  EXPECT_EQ(both.then, "if it is always so busy: Title of threads/knee (finding 2)");
  EXPECT_EQ(both.limits, "");
  report.end.exit_code = 1;
  EXPECT_THAT(overviewOf(report).limits, HasSubstr("Other programs took CPU time"))
      << "the failure comes first";
  report.end.exit_code.reset();
  report.findings.pop_back();
  EXPECT_EQ(overviewOf(report).first, both.first);
  EXPECT_EQ(overviewOf(report).then, "");
}

TEST(Overview, AMachineWithSomeOtherLoadIsALimitation) {
  auto report = reportOf({{"forward", 0, 1}});
  report.findings = {findingOf("host/other-programs", Severity::medium, 0, 0),
                     findingOf("threads/knee", Severity::low, 0, 0.2)};
  report.findings[0].first = 2;
  EXPECT_EQ(overviewOf(report).finding, "threads/knee");
  EXPECT_EQ(overviewOf(report).then, "");
  EXPECT_THAT(overviewOf(report).limits, HasSubstr("Other programs took CPU time meanwhile"));
}

TEST(Overview, IsAtMostTwelveLines) {
  auto report = reportOf({});
  for (const char* name : {"computation", "communication", "copies", "data wait", "synchronisation",
                           "host wait", "kernel wait", "idle", "unattributed"})
    report.breakdown.shares.push_back({name, 0, 0.11});
  report.breakdown.devices = 2;
  report.trace_complete = false;
  report.losses.resize(1);
  report.coverage = "devices";
  report.abstentions.resize(88);
  report.end.exit_signal = 11;
  report.end.ran_ns = 12'345'678'901;
  std::string words;
  for (int i = 0; i < 60; ++i) words += "word" + std::to_string(i) + ' ';
  for (int i = 0; i < 20; ++i) {
    report.findings.push_back(findingOf("a/b", Severity::high, 0.1, 0.2));
    report.findings.back().title = words;
    report.findings.back().proposals.assign(4,
                                            {"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", "1", "2", "", false});
  }
  const auto text = reportAsText(report);
  const auto first = text.substr(0, text.find("\n\n"));
  EXPECT_LE(std::count(first.begin(), first.end(), '\n') + 1, 12) << first;
  std::istringstream lines(first);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(emit::columnsOf(line), 80U) << line;
  EXPECT_THAT(first, HasSubstr("killed by signal 11 (SIGSEGV) after 12.3 s"));
  for (const auto& other : {reportAsMarkdown(report), reportAsHtml(report), reportAsJson(report)})
    EXPECT_THAT(other, HasSubstr("killed by signal 11 (SIGSEGV) after 12.3 s"));
}

TEST(Overview, RulesThatNeedMoreDataAreALineAReason) {
  auto report = reportOf({});
  report.abstentions = {{"a/1", "", "no devices."},
                        {"a/2", "", "no devices."},
                        {"a/3", "", "no devices."},
                        {"b/1", "", "no memory."}};
  report.silent = {"c/1", "c/2"};
  const auto text = reportAsText(report);
  EXPECT_THAT(text, AllOf(HasSubstr("3 rules: no devices."), HasSubstr("1 rule needs something else"),
                          Not(HasSubstr("a/1")), Not(HasSubstr("c/1"))));
  const auto whole = reportAsText(report, {}, {.verbose = true});
  EXPECT_THAT(whole, AllOf(HasSubstr("a/1, a/2, a/3: no devices."), HasSubstr("b/1: no memory."),
                           HasSubstr("c/1, c/2")));
}

std::unique_ptr<test::Analyzed> analyzed(const std::string& text) {
  auto result = std::make_unique<test::Analyzed>();
  result->path =
      (std::filesystem::path(testing::TempDir()) / fmt::format("pitwall-overview-{}.pitwall", getpid()))
          .string();
  EXPECT_TRUE(test::makeTraceFile(text, result->path).has_value());
  auto trace = Trace::open(result->path);
  if (!trace.has_value()) return result->error = trace.error().message, std::move(result);
  result->trace = std::move(trace).value();
  auto report = analyzeTrace(*result->trace, {.rule_folders = {PITWALL_RULE_FOLDER}});
  if (!report.has_value()) return result->error = report.error().message, std::move(result);
  result->report = std::move(report).value();
  return result;
}

bool advises(const Report& report) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [](const Finding& f) { return !f.proposals.empty() || f.gain_high > 0; });
}

// Operators that an OpenMP library with more threads than CPUs ran, without iterations.
constexpr char kRun[] =
    "meta process.usable_cpus 2\nmeta process.openmp_runtime libgomp\nmeta process.openmp_threads 16\n"
    "meta runtime.backend onednn\nsetting OMP_NUM_THREADS 16 environment\n"
    "repeat 500 6ms\n  iteration 0 16\n  op conv1 Convolution forward 100us 5ms\nend\n";

TEST(Overview, AProgramThatFailedAtOnceGetsNoAdviceOnItsSpeed) {
  const std::string begin = "meta process.usable_cpus 2\nmeta process.openmp_runtime libgomp\n";
  const auto failed = analyzed(begin + "meta process.exit_code 1\nmeta trace.end_ns 100000000\n");
  ASSERT_EQ(failed->error, "");
  EXPECT_TRUE(failed->report.end.too_short);
  EXPECT_FALSE(advises(failed->report));
  EXPECT_EQ(overviewOf(failed->report).ended, "The program failed with exit code 1 after 100 ms.");
  EXPECT_EQ(overviewOf(failed->report).first, "fix the failure, and record it again");
  const auto short_run = analyzed(begin + "meta process.exit_code 0\nmeta trace.end_ns 100000000\n");
  EXPECT_TRUE(short_run->report.end.too_short);
  EXPECT_EQ(overviewOf(short_run->report).first, "record a run of several seconds");
  EXPECT_EQ(overviewOf(short_run->report).ended,
            "The program ended after 100 ms: too early to advise on its speed.");
  const auto killed = analyzed(begin + "meta process.exit_code 139\nmeta trace.end_ns 3000000000\n");
  EXPECT_TRUE(killed->report.end.too_short);
  EXPECT_EQ(overviewOf(killed->report).ended, "The program was killed by signal 11 (SIGSEGV) after 3.00 s.");
  const auto no_memory = analyzed(begin + "meta process.exit_signal 9\nmeta process.oom_kills 1\n");
  EXPECT_THAT(overviewOf(no_memory->report).ended, HasSubstr("for lack of memory"));
  for (const char* well : {"meta process.exit_code 0\nmeta trace.end_ns 2000000000\n", ""}) {
    const auto fine = analyzed(begin + well);
    EXPECT_FALSE(fine->report.end.too_short);
    EXPECT_EQ(overviewOf(fine->report).ended, "");
  }
}

TEST(Overview, AProgramThatFailedAfterItsIterationsIsStillAdvised) {
  const auto result = analyzed(std::string(kRun) + "meta process.exit_code 1\n");
  ASSERT_EQ(result->error, "");
  EXPECT_FALSE(result->report.end.too_short);
  EXPECT_TRUE(advises(result->report));
  EXPECT_THAT(overviewOf(result->report).ended, HasSubstr("failed with exit code 1"));
}

}  // namespace
}  // namespace pitwall::overview_test
