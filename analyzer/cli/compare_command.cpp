#include "analyzer/cli/compare_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "analyzer/analysis.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/names_a_file.h"
#include "analyzer/cli/open_trace.h"
#include "analyzer/cli/terminal.h"
#include "analyzer/compare.h"
#include "analyzer/emit.h"

namespace pitwall::cli {
namespace {

// The paths of one side.
using Paths = std::vector<std::string>;

constexpr char kUsageOfSides[] = "pitwall compare BEFORE AFTER, or pitwall compare A1 A2 A3 -- B1 B2 B3";

// "--" separates the sides; without it there is one trace on each.
Result<std::pair<Paths, Paths>> sidesOf(const Paths& traces) {
  const auto between = std::find(traces.begin(), traces.end(), kBetweenSides);
  if (between == traces.end()) {
    if (traces.size() == 2) return std::pair(Paths{traces[0]}, Paths{traces[1]});
    return fail(ErrorCode::invalidInput,
                fmt::format("{} given; specify which are before and which after: {}",
                            traces.size() == 1 ? "one trace is" : fmt::format("{} traces are", traces.size()),
                            kUsageOfSides));
  }
  std::pair<Paths, Paths> sides{{traces.begin(), between}, {between + 1, traces.end()}};
  const bool twice = std::find(between + 1, traces.end(), kBetweenSides) != traces.end();
  if (twice || sides.first.empty() || sides.second.empty()) {
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: {}",
                            twice ? "'--' separates two sides and may be given once only"
                                  : "a side of '--' has no trace",
                            kUsageOfSides));
  }
  return sides;
}

// An exit code when a trace cannot be read.
int measureFiles(const Paths& paths, std::vector<Measured>& runs) {
  for (const std::string& path : paths) {
    auto opened = openTrace(path);
    if (!opened.has_value()) return reportTraceError(opened.error());
    auto report = analyzeTrace(*opened->trace, {.rule_folders = {}, .with_rules = false});
    if (!report.has_value()) return reportError(report.error().message, kUnreadableTrace);
    report->trace_path = path;
    auto result = measure(*opened->trace, *report);
    if (!result.has_value()) return reportError(result.error().message, kUnreadableTrace);
    runs.push_back(std::move(*result));
  }
  return kDone;
}

// The same run twice would make run-to-run variation look smaller than it is.
int reportRepeatedRun(const std::vector<Measured>& a, const std::vector<Measured>& b) {
  const auto pairs = repeatedRecordings(a, b);
  if (pairs.empty()) return kDone;
  const auto pathOf = [&](std::size_t run) { return run < a.size() ? a[run].path : b[run - a.size()].path; };
  return reportError(fmt::format("'{}' and '{}' are one recording; each run counts once, so leave one out",
                                 pathOf(pairs.front().first), pathOf(pairs.front().second)),
                     kUsage);
}

std::string formatted(const Comparison& comparison, const CompareArguments& arguments) {
  if (arguments.format == "json") return comparisonAsJson(comparison);
  if (arguments.format == "markdown") return comparisonAsMarkdown(comparison);
  if (arguments.format == "html") return comparisonAsHtml(comparison);
  const bool to_file = !arguments.output.empty();
  const auto width = std::clamp<std::size_t>(terminalWidth(), 40, 140);
  return comparisonAsText(
      comparison, {.width = to_file ? 80 : static_cast<int>(width), .color = !to_file && colorWanted()});
}

// The slowdown that a passed check could have missed. To stderr, since the report may be read by a program.
void sayWhatCouldHide(const Comparison& comparison, double percent) {
  if (!comparison.hasInterval() || comparison.high * 100 <= percent) return;
  fmt::print(
      stderr,
      "pitwall: --fail-on-regression: no slowdown beyond run-to-run variation; with these runs a slowdown of "
      "up to "
      "{:.1f} % could remain unnoticed{}\n",
      comparison.high * 100,
      comparison.basis == Comparison::Basis::assumed ? "; five runs per side detect smaller ones" : "");
}

std::string tooFewRuns(const Comparison& comparison, double percent) {
  return fmt::format(
      "--fail-on-regression: B looks slower by {:.1f} %, allowed are {:g} %, but {} and {} cannot "
      "distinguish that "
      "from "
      "run-to-run variation; record five of each and compare them all",
      comparison.change * 100, percent,
      comparison.a_runs.size() == 1 ? "one run of A" : fmt::format("{} runs of A", comparison.a_runs.size()),
      comparison.b_runs.size() == 1 ? "one of B" : fmt::format("{} of B", comparison.b_runs.size()));
}

// The change that exceeds what is allowed: of the medians, else of the fastest tenth of the iterations.
double slowdownOf(const Comparison& comparison, double percent) {
  const bool typical = comparison.low > 0 && comparison.change * 100 > percent;
  return typical ? comparison.change : comparison.fastest.change;
}

// With --fail-on-regression an inconclusive comparison must not count as a success.
int verdictOf(const Comparison& comparison, double percent) {
  if (percent < 0) return kDone;
  switch (checkRegression(comparison, percent / 100)) {
    case RegressionCheck::none: sayWhatCouldHide(comparison, percent); return kDone;
    case RegressionCheck::regression:
      return reportError(fmt::format("regression: slower by {:.1f} %, allowed are {:g} %",
                                     slowdownOf(comparison, percent) * 100, percent),
                         kRegression);
    case RegressionCheck::undecided: return reportError(tooFewRuns(comparison, percent), kNotComparable);
    case RegressionCheck::notComparable: break;
  }
  if (comparison.verdict == Comparability::notComparable) {
    return reportError(
        "--fail-on-regression: the traces are not comparable, so nothing is known about a regression",
        kNotComparable);
  }
  return reportError(
      fmt::format(
          "--fail-on-regression: too few steady iterations (A {}, B {}) to distinguish a regression from "
          "chance; record at least 5 of each, or three runs of each",
          comparison.a_iterations, comparison.b_iterations),
      kNotComparable);
}

}  // namespace

void markSides(int argc, char** argv) {
  static char between[] = {kBetweenSides[0], 0};
  if (argc < 2 || std::string_view(argv[1]) != "compare") return;
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") argv[i] = between;
  }
}

CLI::App* addCompare(CLI::App& app, CompareArguments& arguments) {
  auto* command = app.add_subcommand(
      "compare", "Report what changed between runs, and whether it is run-to-run variation");
  command
      ->add_option("traces", arguments.traces,
                   "Trace before and trace after; or several runs per side, at least three, preferably five, "
                   "with '--' between: A1 A2 A3 -- B1 B2 B3; - for standard input")
      ->required()
      ->type_name("TRACE");
  command->add_option("--format", arguments.format, "text, json, markdown or html")
      ->check(CLI::IsMember({"text", "json", "markdown", "html"}))
      ->capture_default_str();
  command
      ->add_option("-o,--output", arguments.output, "File for the report (default: standard output, also -)")
      ->type_name("FILE")
      ->check(kNamesAFile);
  command
      ->add_option("--fail-on-regression", arguments.fail_on_regression,
                   "Exit with 5 when B is slower by more than this and by more than run-to-run variation "
                   "explains; with 6 "
                   "when the traces cannot be compared, or B looks slower and the runs are too few to decide")
      ->type_name("PERCENT")
      ->check(CLI::Validator(
          [](const std::string& text) {
            double percent = 0;
            const bool fits = CLI::detail::lexical_cast(text, percent) && percent >= 0 && percent < 1e6;
            return fits ? std::string()
                        : fmt::format("'{}' is not a percentage: write a number such as 5", text);
          },
          ""));
  return command;
}

int compareTraces(const CompareArguments& arguments) {
  const auto sides = sidesOf(arguments.traces);
  if (!sides.has_value()) return reportError(sides.error().message, kUsage);
  std::vector<Measured> a, b;
  if (const int code = measureFiles(sides->first, a); code != kDone) return code;
  if (const int code = measureFiles(sides->second, b); code != kDone) return code;
  if (const int code = reportRepeatedRun(a, b); code != kDone) return code;
  const Comparison comparison = compare(a, b);
  Paths inputs = sides->first;
  inputs.insert(inputs.end(), sides->second.begin(), sides->second.end());
  if (const int code = printOrWrite(formatted(comparison, arguments), arguments.output, inputs);
      code != kDone)
    return code;
  return verdictOf(comparison, arguments.fail_on_regression);
}

}  // namespace pitwall::cli
