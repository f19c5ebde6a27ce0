#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "analyzer/analysis.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/input_name.h"
#include "analyzer/cli/open_trace.h"
#include "analyzer/cli/print.h"
#include "analyzer/cli/terminal.h"
#include "analyzer/emit.h"
#include "db/escaped.h"
#include "db/export.h"
#include "db/input_path.h"

namespace pitwall::cli {
namespace {

// Errors: invalidInput for text that is not RULE.THRESHOLD=NUMBER and for files that cannot be meant.
Result<AnalyzeOptions> optionsFrom(const AnalyzeArguments& arguments) {
  if (!arguments.env_file.empty() && arguments.env_file == arguments.output) {
    return fail(
        ErrorCode::invalidInput,
        fmt::format("--env and -o both name '{}': give the settings their own file", arguments.output));
  }
  if (const auto& file = arguments.rule_config; !file.empty()) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    const bool is_there = std::filesystem::exists(status);
    if (!is_there || std::filesystem::is_directory(status)) {
      return fail(ErrorCode::invalidInput,
                  fmt::format("--rule-config '{}': {}; give a TOML file with thresholds and switches", file,
                              is_there ? "it is a folder" : "there is no such file"));
    }
  }
  AnalyzeOptions options;
  options.rule_folders = arguments.rule_folders;
  options.disabled = arguments.disabled;
  options.config_file = arguments.rule_config;
  for (const auto& setting : arguments.thresholds) {
    const auto equals = setting.find('=');
    double value = 0;
    const char* end = setting.data() + setting.size();
    const char* number = equals == std::string::npos ? end : setting.data() + equals + 1;
    const auto [stop, error] = std::from_chars(number, end, value);
    if (number == end || error != std::errc() || stop != end) {
      return fail(ErrorCode::invalidInput,
                  fmt::format("--set {}: write RULE.THRESHOLD=NUMBER, a number in the unit that "
                              "'pitwall rules show RULE' names",
                              setting));
    }
    options.thresholds.emplace_back(setting.substr(0, equals), value);
  }
  return options;
}

bool reaches(const Report& report, const std::string& level) {
  for (const auto& finding : report.findings) {
    for (const auto severity : {Severity::info, Severity::low, Severity::medium, Severity::high}) {
      if (level == toString(severity) && finding.severity >= severity) return true;
    }
  }
  return false;
}

const EnvironmentFormatInfo& environmentFormatOf(const std::string& name) {
  for (const auto& info : environmentFormats()) {
    if (name == info.name) return info;
  }
  return environmentFormats().front();
}

// The default file next to the trace may fail (a read-only folder): a note. A requested file must succeed.
int writeSettings(const Report& report, const AnalyzeArguments& arguments) {
  const bool asked = !arguments.env_file.empty();
  const bool to_stdout = arguments.format == "text" && arguments.output.empty();
  if (!asked && isStream(arguments.trace)) {  // it has no file to be beside
    if (to_stdout) print("\nSettings: not written, since the trace is a stream; name a file with --env.\n");
    return kDone;
  }
  const auto& info = environmentFormatOf(arguments.env_format);
  const std::string path = asked ? arguments.env_file : pathBeside(arguments.trace, info.extension);
  // No empty file is written, but the file of another recording may be there, and its settings must not stay.
  const bool proposes = std::any_of(report.findings.begin(), report.findings.end(),
                                    [](const Finding& finding) { return !finding.proposals.empty(); });
  std::error_code error;
  if (!asked && !proposes && !std::filesystem::exists(path, error)) {
    if (to_stdout) print("\nSettings: none is recommended.\n");
    return kDone;
  }
  if (auto status = writeEnvironmentFile(report, path, info.format); !status.has_value()) {
    if (asked) return reportError(status.error().message, kUsage);
    reportNote(status.error().message);
    return kDone;
  }
  if (!to_stdout) return kDone;
  std::string apply = info.apply;
  if (const auto at = apply.find("PATH"); at != std::string::npos) apply.replace(at, 4, path);
  print("\nSettings: {} (apply with: {})\n", escaped(path), escaped(apply));
  return kDone;
}

std::string formatted(const Report& report, const ReportTimeline& timeline,
                      const AnalyzeArguments& arguments) {
  const ReportDetail detail{.sql = arguments.sql, .verbose = arguments.verbose};
  if (arguments.format == "json") return reportAsJson(report);
  if (arguments.format == "markdown") return reportAsMarkdown(report, detail);
  if (arguments.format == "html") return reportAsHtml(report, detail, timeline);
  if (arguments.format == "sarif") return reportAsSarif(report, PITWALL_VERSION);
  const bool to_file = !arguments.output.empty();
  const auto width = std::clamp<std::size_t>(terminalWidth(), 40, 140);
  return reportAsText(
      report, {.width = to_file ? 80 : static_cast<int>(width), .color = !to_file && colorWanted()}, detail);
}

void printTimings(const Report& report) {
  TimeNs total = 0;
  for (const auto& [part, took_ns] : report.timings) {
    printNote("{:>10.3f} ms  {}\n", static_cast<double>(took_ns) * 1e-6, part);
    total += took_ns;
  }
  printNote("{:>10.3f} ms  total\n", static_cast<double>(total) * 1e-6);
}

}  // namespace

int reportError(const std::string& message, ExitCode code) {
  printNote("pitwall: {}\n", escaped(message));
  return code;
}

ExitCode exitCodeOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::corruptTrace:
    case ErrorCode::versionMismatch: return kUnreadableTrace;
    case ErrorCode::internal: return kInternal;
    default: return kUsage;
  }
}

void reportNote(const std::string& note) { printNote("pitwall: note: {}\n", escaped(note)); }

int flushOutput() {
  const bool failed = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !failed) return kDone;
  const std::string why = errno == 0 ? "" : fmt::format(": {}", std::strerror(errno));
  std::clearerr(stdout);
  return reportError(
      fmt::format("cannot write to standard output{}; free space, or name a file on another disk", why),
      kUsage);
}

int printOrWrite(const std::string& text, const std::string& path, const std::vector<std::string>& inputs) {
  if (path.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return flushOutput();
  }
  for (const std::string& input : inputs) {
    std::error_code error;
    if (std::filesystem::equivalent(path, input, error))
      return reportError(
          fmt::format("cannot write '{}': it is the trace that is read; choose another file", path), kUsage);
  }
  const Status status = replaceFile(path, text);
  return status.has_value() ? kDone : reportError(status.error().message, kUsage);
}

int analyze(const AnalyzeArguments& arguments) {
  auto options = optionsFrom(arguments);
  if (!options.has_value()) return reportError(options.error().message, kUsage);
  std::vector<OpenedTrace> trials;
  for (const std::string& name : arguments.trials) {
    auto trial = openTrace(name);
    if (!trial.has_value()) return reportTraceError(trial.error());
    options.value().trials.push_back({name, trial->trace.get()});
    trials.push_back(std::move(trial).value());
  }
  auto opened = openTrace(arguments.trace);
  if (!opened.has_value()) return reportTraceError(opened.error());
  auto report = analyzeTrace(*opened->trace, options.value());
  if (!report.has_value()) return reportError(report.error().message, exitCodeOf(report.error()));
  if (arguments.timing) printTimings(report.value());
  report.value().trace_path = arguments.trace;
  ReportTimeline timeline;
  if (arguments.format == "html") {
    auto read = reportTimeline(*opened->trace, report.value());
    if (!read.has_value()) return reportError(read.error().message, exitCodeOf(read.error()));
    timeline = std::move(read).value();
  }
  opened->trace.reset();  // the file is written next
  if (!opened->imported) {
    if (auto status = saveReport(report.value()); !status.has_value()) {
      report.value().notes.push_back("The findings are not saved in the trace: " + status.error().message +
                                     ".");
    }
  }

  if (const int code =
          printOrWrite(formatted(report.value(), timeline, arguments), arguments.output, {arguments.trace});
      code != kDone)
    return code;
  if (arguments.write_env) {
    if (const int code = writeSettings(report.value(), arguments); code != kDone) return code;
  }
  return reaches(report.value(), arguments.fail_on) ? kFindings : kDone;
}

}  // namespace pitwall::cli
