// Turns a report into text, JSON, Markdown, HTML, SARIF and files of settings.
#pragma once

#include <span>
#include <string>

#include "analyzer/compare.h"
#include "analyzer/report.h"
#include "analyzer/report_timeline.h"
#include "analyzer/simulate.h"
#include "db/result.h"

namespace pitwall {

// Of the JSON report. Additions keep it; renames and removals raise it.
inline constexpr int kReportSchemaVersion = 1;

struct TextOptions {
  int width = 80;      // columns to wrap at
  bool color = false;  // ANSI colours
};

// Optional parts of a report; JSON always has all of them.
struct ReportDetail {
  bool sql = false;      // of each finding
  bool verbose = false;  // each rule that needs more data or found nothing
};

// The summary at the top of a report: with its title at most 12 lines of 80 columns.
struct Overview {
  std::string ended;    // "The program failed with exit code 1 after 120 ms."; empty = it ended well
  std::string startup;  // start-up with its parts, where it takes half of the run or more; else empty
  std::string time;     // "71 % computation, 23 % waiting for data"
  std::string first;    // what to do first
  std::string finding;  // the id of the finding that says so; empty = none
  std::string gain;     // the predicted gain and its confidence; empty without a finding
  std::string then;     // further findings; may be empty
  std::string limits;   // what this recording cannot show; may be empty
};
Overview overviewOf(const Report& report);

std::string reportAsText(const Report& report, TextOptions options = {}, ReportDetail detail = {});
std::string reportAsJson(const Report& report);

std::string reportAsMarkdown(const Report& report, ReportDetail detail = {});
// A page with charts that needs no other file and no network, below 2 MB whatever the report. The timeline
// (reportTimeline()) shows a typical iteration and where the evidence is; without it the page has none.
std::string reportAsHtml(const Report& report, ReportDetail detail = {}, const ReportTimeline& timeline = {});
// SARIF 2.1.0: findings are results, abstentions and notes are notifications. `version` is that of Pitwall.
std::string reportAsSarif(const Report& report, const std::string& version);

// The format of the settings file.
enum class EnvironmentFormat { bash, fish, powershell, dockerfile, systemd, kubernetes };

// What each is called ("bash", ...), the usual end of such a file's name (".env") and how it is applied.
struct EnvironmentFormatInfo {
  EnvironmentFormat format;
  const char* name;
  const char* extension;
  const char* apply;  // PATH stands for the file
};
std::span<const EnvironmentFormatInfo> environmentFormats();

// The line, or lines, that give a variable its value in a file of this format. `name` is a variable's name.
std::string environmentAssignment(const std::string& name, const std::string& value,
                                  EnvironmentFormat format);

// Each proposed setting after a comment with its reason and rule. Settings that the user set are commented
// out. Says so when there is nothing to recommend.
std::string reportAsEnvironment(const Report& report, EnvironmentFormat format = EnvironmentFormat::bash);

// Writes that text. A file that exists and was not written by Pitwall is not changed. Errors: io,
// invalidInput.
Status writeEnvironmentFile(const Report& report, const std::string& path,
                            EnvironmentFormat format = EnvironmentFormat::bash);

// "An iteration takes 3.1 ms in A and 2.5 ms in B (medians): B is 19.4 % faster (95 % interval ...)."
std::string comparisonSentence(const Comparison& comparison);
std::string comparisonAsText(const Comparison& comparison, TextOptions options = {});
std::string comparisonAsJson(const Comparison& comparison);
std::string comparisonAsMarkdown(const Comparison& comparison);
std::string comparisonAsHtml(const Comparison& comparison);

std::string simulationAsText(const Simulation& simulation, TextOptions options = {});
std::string simulationAsJson(const Simulation& simulation);

// Puts the findings into the trace file, so that other tools show the same. No reader of the file should be
// open. Errors: those of saveFindings in db/findings.h.
Status saveReport(const Report& report);

}  // namespace pitwall
