#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <filesystem>

#include "analyzer/analysis.h"
#include "analyzer/cli/commands.h"
#include "analyzer/emit.h"
#include "db/reader.h"

namespace pitwall::cli {
namespace {

bool colorWanted() { return isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr; }

// Errors: invalidInput for what is not RULE.THRESHOLD=NUMBER.
Result<AnalyzeOptions> optionsFrom(const AnalyzeArguments& arguments) {
  AnalyzeOptions options;
  options.rule_folders = arguments.rule_folders;
  for (const auto& setting : arguments.thresholds) {
    const auto equals = setting.find('=');
    double value = 0;
    const char* end = setting.data() + setting.size();
    const char* number = equals == std::string::npos ? end : setting.data() + equals + 1;
    const auto [stop, error] = std::from_chars(number, end, value);
    if (number == end || error != std::errc() || stop != end) {
      return fail(ErrorCode::invalidInput, fmt::format("--set {}: write RULE.THRESHOLD=NUMBER", setting));
    }
    options.thresholds.emplace_back(setting.substr(0, equals), value);
  }
  return options;
}

int exitCodeFor(const Error& error) {
  switch (error.code) {
    case ErrorCode::corruptTrace:
    case ErrorCode::versionMismatch: return complain(error.message, kUnreadableTrace);
    case ErrorCode::invalidInput:
    case ErrorCode::notFound:
    case ErrorCode::io: return complain(error.message, kUsage);
    default: return complain(error.message, kInternal);
  }
}

bool reaches(const Report& report, const std::string& level) {
  for (const auto& finding : report.findings) {
    for (const auto severity : {Severity::info, Severity::low, Severity::medium, Severity::high}) {
      if (level == toString(severity) && finding.severity >= severity) return true;
    }
  }
  return false;
}

// A default beside the trace may fail (a read-only folder): a remark. A file that was asked for must work.
int writeSettings(const Report& report, const AnalyzeArguments& arguments) {
  const bool asked = !arguments.env_file.empty();
  const std::string path =
      asked ? arguments.env_file : std::filesystem::path(arguments.trace).replace_extension(".env").string();
  if (auto status = writeEnvironmentFile(report, path); !status.has_value()) {
    if (asked) return complain(status.error().message, kUsage);
    fmt::print(stderr, "pitwall: note: {}\n", status.error().message);
    return kDone;
  }
  if (arguments.format == "text") fmt::print("\nSettings: {} (apply with: source {})\n", path, path);
  return kDone;
}

}  // namespace

int complain(const std::string& message, ExitCode code) {
  fmt::print(stderr, "pitwall: {}\n", message);
  return code;
}

int analyze(const AnalyzeArguments& arguments) {
  auto options = optionsFrom(arguments);
  if (!options.has_value()) return complain(options.error().message, kUsage);
  auto trace = Trace::open(arguments.trace);
  if (!trace.has_value()) return complain(trace.error().message, kUnreadableTrace);
  auto report = analyzeTrace(*trace.value(), options.value());
  if (!report.has_value()) return exitCodeFor(report.error());
  trace.value().reset();  // the file is written next
  if (auto status = saveReport(report.value()); !status.has_value()) {
    report.value().notes.push_back("The findings are not saved in the trace: " + status.error().message +
                                   ".");
  }

  const bool json = arguments.format == "json";
  const auto text =
      json ? reportAsJson(report.value()) : reportAsText(report.value(), {.color = colorWanted()});
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (arguments.write_env) {
    if (const int code = writeSettings(report.value(), arguments); code != kDone) return code;
  }
  return reaches(report.value(), arguments.fail_on) ? kFindings : kDone;
}

}  // namespace pitwall::cli
