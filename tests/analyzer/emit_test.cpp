#include "analyzer/emit.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "analyzer/emit/json_emitter.h"
#include "analyzer/emit/utf8.h"
#include "analyzer/units_text.h"
#include "db/json_string.h"
#include "tests/support/temp_folder.h"

namespace pitwall::emit_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

Report sampleReport() {
  Report report;
  report.trace_path = "run.pitwall";
  report.context = {{"engine", "NaiveEngine"}};
  report.breakdown = {40, 3, 400'000'000, 10'000'000, 1600, "marks", {}, 0};
  report.breakdown.shares = {{"forward", 300'000'000, 0.75}, {"idle", 100'000'000, 0.25}};
  report.operators = {{"conv1 Convolution", "Convolution", "conv1", "forward", "1x1", 40, 300'000'000,
                       7'500'000, 7'400'000, 9'000'000, 1, 2e9, 3e9}};
  report.critical_path = {0, 10'000'000, 0, 9'000'000, 800'000, 200'000, {}, "no calls"};
  report.critical_path.rows = {{"conv1 Convolution", "forward", "operator", 2, 9'000'000, 0.9, 40'000},
                               {"engine overhead", "none", "engine overhead", 0, 800'000, 0.08, 0},
                               {"nothing", "none", "nothing", 0, 200'000, 0.02, 0}};
  Finding finding;
  finding.id = "input/bound";
  finding.title = "Waits";
  finding.severity = Severity::high;
  finding.verdict = "31 % of the time.";
  finding.evidence = {{"iteration", "data_wait_ns"}, {{"3", "1.00 ms"}}, 17, {}};
  finding.proposals = {
      {"PITWALL_TUNE_prefetch_threads", "0", "1", "Because.\nReally; $(touch /tmp/no)", false},
      {"OMP_PLACES", "threads", "a'b $HOME", "You chose it.", true}};
  finding.gain_low = 0.1;
  finding.gain_high = 0.2;
  finding.gain_method = "A method.";
  finding.guard = "something";
  report.findings = {finding};
  report.abstentions = {{"batch/can-grow", "Batch", "no memory known."}};
  report.silent = {"engine/naive"};
  return report;
}

TEST(Text, AnEstimateIsWrittenOnlyWhereTheIntervalSaysMoreThanABoundAndOneNumber) {
  auto report = sampleReport();
  report.findings[0].gain_low = 0.1999;
  report.findings[0].gain_high = 0.2001;
  EXPECT_THAT(reportAsText(report), HasSubstr("Gain      20.0 % of the time"));
  report.findings[0].gain_low = 0;
  EXPECT_THAT(reportAsText(report), HasSubstr("Gain      0.0 % to 20.0 % of the time"));
}

TEST(Text, StaysWithinEightyColumnsAndShowsTheSums) {
  const auto text = reportAsText(sampleReport());
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(emit::columnsOf(line), 80U) << line;
  EXPECT_THAT(text, HasSubstr("1. HIGH: Waits [input/bound]"));
  EXPECT_THAT(text, HasSubstr("export PITWALL_TUNE_prefetch_threads=1 (now 0)"));
  EXPECT_THAT(text, HasSubstr("you set OMP_PLACES=threads; not overridden"));
  EXPECT_THAT(text, HasSubstr("about 15.1 % of the time: 10.0 % to 20.0 % (1.11x to 1.25x the"));
  EXPECT_THAT(text, HasSubstr("and 16 more"));
  EXPECT_THAT(text, HasSubstr("run.pitwall: 40 iterations, 1,600 items/s"));
  EXPECT_THAT(text, HasSubstr("3 left out"));
  EXPECT_THAT(text, testing::ContainsRegex("total +400 ms +10.0 ms +100 %"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(reportAsText(sampleReport(), {.color = true}), HasSubstr("\033["));
}

TEST(Text, TheCriticalPathAddsUpAndSaysWhatTheTraceDoesNotTell) {
  auto report = sampleReport();
  const auto text = reportAsText(report);
  EXPECT_THAT(text, testing::ContainsRegex("conv1 Convolution +operator +2 +9.00 ms +90.0 % +40.0 us"));
  EXPECT_THAT(text, testing::ContainsRegex("engine overhead +gap +- +800 us +8.0 % +-"));
  EXPECT_THAT(text, testing::ContainsRegex("[(]no event[)] +gap +- +200 us +2.0 %"));
  EXPECT_THAT(text, testing::ContainsRegex("total +10.0 ms +100 %"));
  EXPECT_THAT(text, HasSubstr("Not in this trace: no calls."));
  report.critical_path.rows.assign(20, {"op", "none", "operator", 1, 500'000, 0.05, 0});
  EXPECT_THAT(reportAsText(report), testing::ContainsRegex("12 others +6.00 ms +60.0 %"));
  report.critical_path = {};
  EXPECT_THAT(reportAsText(report), Not(HasSubstr("CRITICAL PATH"))) << "a trace without events has none";
}

TEST(Text, NamesFromATraceCannotMoveTheCursor) {
  auto report = sampleReport();
  report.operators[0].title = "a\033[2Jb\n\xE2\x80\xAE\xC2\x9B";  // reverses text; an escape sequence
  const auto text = reportAsText(report);
  EXPECT_THAT(text, HasSubstr("a [2Jb"));
  for (const char* mover : {"\033", "\xE2\x80\xAE", "\xC2\x9B"}) EXPECT_THAT(text, Not(HasSubstr(mover)));
  EXPECT_EQ(emit::columnsOf("\xE5\x90\x8D\xE5\x89\x8D e\xCC\x81"), 6U) << "two wide ones, and a mark above";
}

TEST(Text, FitsANarrowTerminalAndSaysWhatHasNoRoom) {
  auto report = sampleReport();
  report.operators[0].title = "a_very_long_name_of_an_operator Convolution";
  for (const int width : {40, 60, 80, 140}) {
    const auto text = reportAsText(report, {.width = width});
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      // A setting is one word, to be copied whole.
      if (line.find("PITWALL_TUNE") != std::string::npos) continue;
      EXPECT_LE(emit::columnsOf(line), static_cast<std::size_t>(width)) << line;
    }
    EXPECT_EQ(text.find("columns left out") == std::string::npos, width >= 80) << text;
  }
}

TEST(Text, RowsOfOneNameAreDistinguishedByTheirShapes) {
  auto report = sampleReport();
  report.operators.push_back(report.operators[0]);
  report.operators[1].shapes = "32x3x224x224";
  EXPECT_THAT(reportAsText(report), HasSubstr("\n     32x3x224x224\n"));
  EXPECT_THAT(reportAsMarkdown(report), HasSubstr("| conv1 Convolution (32x3x224x224) |"));
  EXPECT_THAT(reportAsHtml(report), HasSubstr("<span class=\"soft\">32x3x224x224</span>"));
  EXPECT_THAT(reportAsText(sampleReport()), Not(HasSubstr("1x1\n"))) << "a unique name needs none";
}

TEST(Text, OperatorsHaveTheirSharesOfTheTimeThatTheyAreOrderedBy) {
  auto report = sampleReport();
  report.operators[0].self_ns = 75, report.operators[0].device_ns = 1;
  report.operators.push_back(report.operators[0]);
  report.operators[1].layer = report.operators[1].title = "second";
  report.operators[1].self_ns = 25, report.operators[1].device_ns = 3;
  EXPECT_THAT(reportAsText(report), HasSubstr("OPERATORS, by the time that they take themselves"));
  EXPECT_THAT(reportAsText(report), Not(ContainsRegex("self +device")));
  EXPECT_THAT(reportAsMarkdown(report), ContainsRegex("second .*25.0 %"));
  EXPECT_THAT(reportAsHtml(report), HasSubstr("Operators by the time that they take themselves"));
  report.operator_order = OperatorOrder::deviceTime;
  EXPECT_THAT(reportAsText(report), HasSubstr("OPERATORS, by the device time that they launch"));
  EXPECT_THAT(reportAsText(report), ContainsRegex("self +device"));
  EXPECT_THAT(reportAsMarkdown(report), ContainsRegex("second .*75.0 %"));
  EXPECT_THAT(reportAsHtml(report), HasSubstr("Operators by the device time that they launch"));
}

TEST(Text, KernelsAddUp) {
  auto report = sampleReport();
  EXPECT_THAT(reportAsText(report), Not(HasSubstr("KERNELS"))) << "without devices";
  report.kernels.assign(12, {"void gemm", "computation", 3, 3'000'000, 1'000'000, 2'000'000, 1.0 / 12});
  const auto text = reportAsText(report);
  EXPECT_THAT(text, testing::ContainsRegex("   gemm +3 +3.00 ms +1.00 ms +2.00 ms +8.3 %"));
  EXPECT_THAT(text, testing::ContainsRegex("2 others +6 +6.00 ms +16.7 %"));
  EXPECT_THAT(text, testing::ContainsRegex("total +36 +36.0 ms +100 %"));
}

TEST(Text, ATraceOfSumsSaysSo) {
  auto report = sampleReport();
  report.timeline_kind = "sums only";
  report.breakdown.iteration_source = "whole trace";
  report.operators[0].p50_ns = report.operators[0].p99_ns = 0;
  report.operators[0].self_ns = report.operators[0].total_ns;
  report.critical_path = {};
  report.critical_path.missing = "times";
  const auto text = reportAsText(report);
  EXPECT_THAT(text, HasSubstr("run.pitwall: sums only"));
  EXPECT_THAT(text, HasSubstr("the file does not say when anything began"));
  EXPECT_THAT(text, testing::ContainsRegex("operator +count +total +mean +share"));
  EXPECT_THAT(text, Not(HasSubstr("Not in this trace"))) << "of a path that is not there";
}

TEST(Text, IsShortenedToColumns) {
  const std::string wide = "\xE5\x90\x8D", dots = "\xE2\x80\xA6";
  EXPECT_EQ(emit::shortened("abc", 3), "abc");
  EXPECT_EQ(emit::shortened("abcd", 3), "ab" + dots);
  EXPECT_EQ(emit::shortened("abcd", 3, "~"), "ab~");
  EXPECT_EQ(emit::shortened(wide + wide, 4), wide + wide);
  EXPECT_EQ(emit::shortened(wide + wide, 3), wide + dots);
  EXPECT_EQ(emit::shortened(wide + wide, 2), dots);
  EXPECT_EQ(emit::shortened("ae\xCC\x81z", 2), "a" + dots);
  EXPECT_EQ(emit::shortened("e\xCC\x81zz", 2), "e\xCC\x81" + dots) << "a mark stays with its letter";
  EXPECT_EQ(emit::shortened("\xFF\xFF\xFF", 2), "\xFF" + dots);
  EXPECT_EQ(emit::shortened("a", 0), dots);
  EXPECT_EQ(emit::shortened("", 0), "");
}

TEST(Text, ANumberStaysWithItsUnit) {
  auto report = sampleReport();
  for (int blanks = 0; blanks < 40; ++blanks) {
    report.findings[0].verdict = std::string(static_cast<std::size_t>(blanks), 'x') +
                                 " a wait of 28.2 ms, and 93.3 %; less than < 0.1 % of it and 13 CPUs.";
    const auto text = reportAsText(report, {.width = 40});
    for (const char* whole : {"28.2 ms,", "93.3 %;", "< 0.1 %", "13 CPUs."})
      EXPECT_THAT(text, HasSubstr(whole)) << blanks;
  }
}

TEST(Json, StringsAreAlwaysValid) {
  EXPECT_EQ(jsonString("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\n\\u0001\"");
  EXPECT_EQ(jsonString("\xff\xc3\xa4\xed\xa0\x80"),
            "\"\xEF\xBF\xBD\xc3\xa4\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(Json, NumbersThatJsonLacksAreNull) {
  emit::JsonEmitter emitter;
  emitter.beginList("", "");
  emitter.field("", "", {std::nan(""), ""});
  emitter.field("", "", {1.5, ""});
  emitter.field("", "", {INFINITY, ""});
  emitter.endList();
  EXPECT_EQ(std::move(emitter).take(), "[\n  null,\n  1.5,\n  null\n]\n");
}

TEST(Units, AsPeopleReadThem) {
  EXPECT_EQ(showDuration(999), "999 ns");
  EXPECT_EQ(showDuration(999'600), "1.00 ms");
  EXPECT_EQ(showDuration(12'345'678'901.0), "12.3 s");
  EXPECT_EQ(showBytes(1536), "1.5 KiB");
  EXPECT_EQ(showRate(1234567), "1,234,567");
  EXPECT_EQ(showScaled(2.5e9, "FLOP/s"), "2.50 GFLOP/s");
}

std::string shell(const std::string& command) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) out += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0);
  return out;
}

class Environment : public testing::Test {
 protected:
  test::TempFolder folder_;
  std::string path_ = folder_ / "settings.env";
};

TEST_F(Environment, CanBeSourcedAndRespectsTheUser) {
  ASSERT_TRUE(writeEnvironmentFile(sampleReport(), path_).has_value());
  const auto out =
      shell("unset OMP_PLACES; . " + path_ + " && echo \"$PITWALL_TUNE_prefetch_threads|$OMP_PLACES\"");
  EXPECT_EQ(out, "1|\n");
  EXPECT_NE(std::system("test -e /tmp/no"), 0);
}

TEST_F(Environment, QuotesWhatAShellWouldRead) {
  auto report = sampleReport();
  report.findings[0].proposals[1].user_set = false;
  ASSERT_TRUE(writeEnvironmentFile(report, path_).has_value());
  EXPECT_EQ(shell(". " + path_ + " && printf %s \"$OMP_PLACES\""), "a'b $HOME");
}

TEST_F(Environment, SaysWhenThereIsNothing) {
  EXPECT_THAT(reportAsEnvironment(Report{}), HasSubstr("# Nothing to recommend"));
}

TEST_F(Environment, LeavesOthersFilesAlone) {
  std::ofstream(path_) << "export IMPORTANT=1\n";
  const auto status = writeEnvironmentFile(sampleReport(), path_);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::invalidInput);
  std::ifstream file(path_);
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "export IMPORTANT=1");
}

}  // namespace
}  // namespace pitwall::emit_test
