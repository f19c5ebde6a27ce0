// Files of settings are read by the programs they are for, where those are installed; otherwise their syntax
// is checked.
#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "analyzer/emit.h"
#include "tests/support/temp_folder.h"

namespace pitwall::report_formats_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const char kNasty[] = "a'b \"c\" $HOME $(x) %h \\ `d` # e";

Report reportWith(const std::string& value) {
  Report report;
  report.trace_path = "run.pitwall\nrm -rf";
  Finding finding;
  finding.id = "threads/affinity";
  finding.title = "<script>alert(1)</script> | pipes";
  finding.severity = Severity::medium;
  finding.verdict = "Slow & <b>wrong</b>.";
  finding.gain_high = 0.2;
  finding.proposals = {{"OMP_PLACES", "unset", value, "Because.\nexport EVIL=1", false},
                       {"MINE", "1", "2", "You chose it.", true},
                       {"bad name; rm", "1", "2", "Not a name.", false}};
  report.findings = {finding};
  report.breakdown.shares = {{"forward", 1, 0.6}, {"idle", 1, 0.4}};
  return report;
}

std::string outputOf(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  ::pclose(pipe);
  return text;
}

TEST(EnvironmentFormats, EachLineHasItsReasonAndNothingElseIsActive) {
  for (const auto& info : environmentFormats()) {
    const std::string text = reportAsEnvironment(reportWith(kNasty), info.format);
    EXPECT_THAT(text, testing::StartsWith("# Settings recommended by Pitwall from run.pitwall rm -rf."))
        << info.name;
    EXPECT_THAT(text, HasSubstr("# Because. export EVIL=1 [threads/affinity]")) << info.name;
    EXPECT_THAT(text, Not(HasSubstr("bad name"))) << info.name;
    std::istringstream lines(text);
    int active = 0;
    for (std::string line; std::getline(lines, line);) {
      const auto first = line.find_first_not_of(' ');
      const bool comment = first == std::string::npos || line[first] == '#';
      if (comment) continue;
      EXPECT_THAT(line, Not(HasSubstr("MINE"))) << info.name;
      active += line.find("OMP_PLACES") != std::string::npos;
    }
    EXPECT_EQ(active, 1) << info.name << "\n" << text;
  }
}

TEST(EnvironmentFormats, FindingsThatDisagreeAreNotHidden) {
  Report report = reportWith("4");
  report.findings.push_back(report.findings[0]);
  report.findings[1].id = "threads/knee";
  report.findings[1].proposals[0].proposed = "2";
  for (const auto& info : environmentFormats()) {
    const std::string text = reportAsEnvironment(report, info.format);
    EXPECT_THAT(text, HasSubstr("# [threads/knee] needs OMP_PLACES=2 instead")) << info.name;
    EXPECT_EQ(text.find("MINE"), text.rfind("You set MINE") + 8) << "the same value twice is said once";
  }
}

TEST(EnvironmentFormats, AShellReadsTheValueAsItIs) {
  const test::TempFolder folder;
  std::ofstream(folder / "a.env") << reportAsEnvironment(reportWith(kNasty));
  EXPECT_EQ(outputOf(". '" + (folder / "a.env") + "'; printf %s \"$OMP_PLACES${MINE-}${EVIL-}\""), kNasty);
}

TEST(EnvironmentFormats, ValuesAreQuotedAsTheirReadersWant) {
  const auto text = [](EnvironmentFormat format) { return reportAsEnvironment(reportWith(kNasty), format); };
  EXPECT_THAT(text(EnvironmentFormat::fish),
              HasSubstr(R"(set -gx OMP_PLACES 'a\'b "c" $HOME $(x) %h \\ `d` # e')"));
  EXPECT_THAT(text(EnvironmentFormat::powershell),
              HasSubstr(R"($env:OMP_PLACES = 'a''b "c" $HOME $(x) %h \ `d` # e')"));
  EXPECT_THAT(text(EnvironmentFormat::dockerfile),
              HasSubstr(R"(ENV OMP_PLACES="a'b \"c\" \$HOME \$(x) %h \\ `d` # e")"));
  EXPECT_THAT(text(EnvironmentFormat::systemd), HasSubstr("[Service]\n"));
  EXPECT_THAT(text(EnvironmentFormat::systemd),
              HasSubstr(R"(Environment="OMP_PLACES=a'b \"c\" $HOME $(x) %%h \\ `d` # e")"));
  EXPECT_THAT(
      text(EnvironmentFormat::kubernetes),
      HasSubstr("env:\n\n  # Because. export EVIL=1 [threads/affinity]\n  - name: OMP_PLACES\n    value: "
                R"("a'b \"c\" $HOME $$(x) %h \\ `d` # e")"));
}

TEST(EnvironmentFormats, NothingToRecommendIsSaid) {
  for (const auto& info : environmentFormats())
    EXPECT_THAT(reportAsEnvironment({}, info.format), HasSubstr("# Nothing to recommend")) << info.name;
}

TEST(Html, NamesFromATraceAreTextOnly) {
  const std::string page = reportAsHtml(reportWith("4"));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)"));
  EXPECT_EQ(page.find("<script>"), page.rfind("<script>")) << "the page's alone";
  EXPECT_THAT(page, Not(HasSubstr("<b>wrong")));
  EXPECT_THAT(page, HasSubstr("Slow &amp; &lt;b&gt;wrong&lt;/b&gt;."));
  EXPECT_THAT(page, HasSubstr("<svg role=\"img\""));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
}

TEST(Html, TheOverviewComesFirstAndHeadingsHaveLinks) {
  const std::string page = reportAsHtml(reportWith("4"));
  const auto overview = page.find("<div id=\"overview\">"), charts = page.find("<figure>"),
             findings = page.find(">Findings, most important first</h2>");
  EXPECT_LT(overview, charts);
  EXPECT_LT(charts, findings);
  EXPECT_NE(findings, std::string::npos);
  EXPECT_THAT(page, HasSubstr("<a href=\"#part-2\">Where the time goes</a>"));
  EXPECT_THAT(page, HasSubstr("<h2 id=\"part-2\">Where the time goes</h2>"));
  EXPECT_THAT(page, HasSubstr("<span class=\"badge\">medium</span>"));
}

TEST(Markdown, NamesFromATraceAreTextOnly) {
  const std::string text = reportAsMarkdown(reportWith("4"));
  EXPECT_THAT(text, HasSubstr("\\<script\\>alert(1)\\</script\\> \\| pipes"));
  EXPECT_THAT(text, HasSubstr("## Where the time goes"));
  Report report = reportWith("4");
  report.findings[0].verdict = "aten::_foreach_mul_ and a_b &lt; of __main__";
  EXPECT_THAT(reportAsMarkdown(report),
              HasSubstr("aten::\\_foreach_mul\\_ and a_b \\&lt; of \\_\\_main\\_\\_"))
      << "emphasis and entities would change the names";
}

TEST(Sarif, LevelsAndPaths) {
  Report report = reportWith("4");
  report.trace_path = "/data/my run.pitwall";
  const std::string text = reportAsSarif(report, "1.2.3");
  EXPECT_THAT(text, HasSubstr("\"version\": \"1.2.3\""));
  EXPECT_THAT(text, HasSubstr("\"level\": \"warning\""));
  EXPECT_THAT(text, HasSubstr("\"uri\": \"file:///data/my%20run.pitwall\""));
  EXPECT_THAT(text, HasSubstr("Set OMP_PLACES=4 (now unset)."));
}

}  // namespace
}  // namespace pitwall::report_formats_test
