#include "analyzer/cli/export_command.h"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/input_name.h"
#include "analyzer/cli/names_a_file.h"
#include "analyzer/cli/open_trace.h"
#include "analyzer/cli/print.h"
#include "analyzer/cli/progress_line.h"
#include "analyzer/units_text.h"
#include "db/escaped.h"
#include "db/export.h"

namespace pitwall::cli {
namespace {

struct FormatName {
  const char* name;
  ExportFormat format;
  const char* extension;
};
constexpr FormatName kFormats[] = {{"chrome", ExportFormat::chrome, ".json"},
                                   {"mxnet", ExportFormat::mxnet, ".json"},
                                   {"csv", ExportFormat::csv, ".csv"},
                                   {"pitwall", ExportFormat::pitwall, ".pitwall"},
                                   {"rows", ExportFormat::rows, ".sqlite"}};

const FormatName& formatOf(const std::string& name) {
  for (const FormatName& format : kFormats) {
    if (name == format.name) return format;
  }
  return kFormats[0];
}

std::string outputFor(const ExportArguments& arguments) {
  if (!arguments.output.empty()) return arguments.output;
  const std::string beside = pathBeside(arguments.trace, "");
  std::string name = arguments.trace == "-" ? "stdin" : std::filesystem::path(beside).filename().string();
  if (arguments.format == "csv") name += "." + arguments.table;
  if (!arguments.range.empty() || arguments.rank >= 0 || arguments.format == "mxnet") name += ".export";
  return name + formatOf(arguments.format).extension;
}

// "3 events", "1,234 samples": those that are not 0.
std::string contentsOf(const ExportSummary& summary) {
  std::string text;
  const auto add = [&text](std::int64_t count, const char* one, const char* many) {
    if (count > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", showCount(count), count == 1 ? one : many);
  };
  add(summary.rows, "row", "rows");
  add(summary.events, "event", "events");
  add(summary.samples, "counter sample", "counter samples");
  add(summary.dependencies, "dependency", "dependencies");
  return text.empty() ? "nothing" : text;
}

}  // namespace

CLI::App* addExport(CLI::App& app, ExportArguments& arguments) {
  auto* command =
      app.add_subcommand("export", "Write a trace for other tools, or a part of it as a new trace");
  command
      ->add_option("trace", arguments.trace,
                   "Trace file, one of another tool, or a folder of a job's traces; - for standard input")
      ->required()
      ->type_name("TRACE");
  command
      ->add_option(
          "--format", arguments.format,
          "chrome (Perfetto, chrome://tracing), mxnet (profile.json), csv (one table), pitwall (a new "
          "trace), rows (SQLite)")
      ->check(CLI::IsMember({"chrome", "mxnet", "csv", "pitwall", "rows"}))
      ->capture_default_str();
  command
      ->add_option("-o,--output", arguments.output,
                   "File to write, - for standard output (default: by the trace's name, here)")
      ->type_name("FILE")
      ->check(kNamesAFile);
  command
      ->add_option("--range", arguments.range,
                   "Only events that overlap these times since the trace's start: 1.5s..2s, 20ms..")
      ->type_name("A..B");
  command->add_option("--rank", arguments.rank, "Only the processes of this rank")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 24));
  command
      ->add_option("--table", arguments.table,
                   "Table of the csv: any that 'pitwall query TRACE --schema' lists")
      ->type_name("T");
  command->add_flag("--single", arguments.plain_mxnet,
                    "mxnet: operators once, not also as tasks as MXNet does");
  command->add_flag_callback(
      "--rows", [&arguments] { arguments.format = "rows"; }, "The same as --format rows");
  return command;
}

int exportTraceFile(const ExportArguments& arguments) {
  ExportOptions options;
  options.format = formatOf(arguments.format).format;
  options.table = arguments.table;
  options.mxnet_doubled = !arguments.plain_mxnet;
  if (arguments.rank >= 0) options.rank = arguments.rank;
  if (!arguments.range.empty()) {
    const auto range = parseExportRange(arguments.range);
    if (!range.has_value()) return reportError(range.error().message, kUsage);
    options.range = *range;
  }
  auto opened = openTrace(arguments.trace);
  if (!opened.has_value()) return reportTraceError(opened.error());
  const std::string output = outputFor(arguments);
  std::error_code error;
  if (output != "-" && std::filesystem::equivalent(output, arguments.trace, error)) {
    return reportError(
        fmt::format("cannot write '{}': it is the trace that is read; choose another path with -o", output),
        kUsage);
  }
  ProgressLine line("million rows/s", 1e6);
  options.progress = [&](const ExportProgress& p) { line.show("export", p.done_rows, p.total_rows); };
  const auto summary = exportTrace(*opened->trace, output, options);
  line.clear();
  if (!summary.has_value()) return reportError(summary.error().message, exitCodeOf(summary.error()));
  // The data may be on standard output.
  const std::string done = fmt::format("{}: {}\n", output == "-" ? "written" : "written: " + escaped(output),
                                       contentsOf(*summary));
  std::fputs(done.c_str(), output == "-" ? stderr : stdout);
  for (const std::string& note : summary->notes) reportNote(note);
  return kDone;
}

}  // namespace pitwall::cli
