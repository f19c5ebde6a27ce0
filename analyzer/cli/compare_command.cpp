#include "analyzer/cli/compare_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "analyzer/analysis.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/open_trace.h"
#include "analyzer/cli/terminal.h"
#include "analyzer/compare.h"
#include "analyzer/emit.h"

namespace pitwall::cli {
namespace {

// An exit code when the trace cannot be had.
int measureFile(const std::string& path, std::optional<Measured>& measured) {
  auto opened = openTrace(path);
  if (!opened.has_value()) return complainOfTrace(opened.error());
  auto report = analyzeTrace(*opened->trace);
  if (!report.has_value()) return complain(report.error().message, kUnreadableTrace);
  report->trace_path = path;
  auto result = measure(*opened->trace, *report);
  if (!result.has_value()) return complain(result.error().message, kUnreadableTrace);
  measured = std::move(*result);
  return kDone;
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

// With --fail-on-regression a comparison that says nothing must not pass for a good one.
int verdictOf(const Comparison& comparison, double percent) {
  if (percent < 0) return kDone;
  if (comparison.verdict == Comparability::notComparable) {
    return complain(
        "--fail-on-regression: the traces are not comparable, so nothing is known about a regression",
        kNotComparable);
  }
  if (comparison.same_recording) return kDone;
  if (!comparison.has_interval) {
    return complain(
        fmt::format("--fail-on-regression: too few steady iterations (A {}, B {}) to tell a regression from "
                    "chance; record at least 5 of each",
                    comparison.a_iterations, comparison.b_iterations),
        kNotComparable);
  }
  if (!isRegression(comparison, percent / 100)) return kDone;
  return complain(
      fmt::format("regression: slower by {:.1f} %, allowed are {:g} %", comparison.change * 100, percent),
      kRegression);
}

}  // namespace

CLI::App* addCompare(CLI::App& app, CompareArguments& arguments) {
  auto* command =
      app.add_subcommand("compare", "Say what changed between two traces, and whether it is noise");
  command->add_option("a", arguments.a, "Trace before")->required()->type_name("A");
  command->add_option("b", arguments.b, "Trace after")->required()->type_name("B");
  command->add_option("--format", arguments.format, "text, json, markdown or html")
      ->check(CLI::IsMember({"text", "json", "markdown", "html"}))
      ->capture_default_str();
  command->add_option("-o,--output", arguments.output, "File for the report (default: standard output)")
      ->type_name("FILE");
  command
      ->add_option(
          "--fail-on-regression", arguments.fail_on_regression,
          "Exit with 5 when B is slower by more than this and it is not noise; with 6 when the traces "
          "cannot be compared or have too few iterations")
      ->type_name("PERCENT")
      ->check(CLI::Validator(
          [](const std::string& text) {
            double percent = 0;
            const bool fits = CLI::detail::lexical_cast(text, percent) && percent >= 0 && percent < 1e6;
            return fits ? std::string()
                        : fmt::format("'{}' is no percentage: write a number such as 5", text);
          },
          ""));
  return command;
}

int compareTraces(const CompareArguments& arguments) {
  std::optional<Measured> a, b;
  if (const int code = measureFile(arguments.a, a); code != kDone) return code;
  if (const int code = measureFile(arguments.b, b); code != kDone) return code;
  const Comparison comparison = compare(*a, *b);
  if (const int code =
          printOrWrite(formatted(comparison, arguments), arguments.output, {arguments.a, arguments.b});
      code != kDone)
    return code;
  return verdictOf(comparison, arguments.fail_on_regression);
}

}  // namespace pitwall::cli
