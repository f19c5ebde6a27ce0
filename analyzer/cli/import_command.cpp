#include "analyzer/cli/import_command.h"

#include <fmt/core.h>

#include <cstdio>
#include <filesystem>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/input_name.h"
#include "analyzer/cli/names_a_file.h"
#include "analyzer/cli/progress_line.h"
#include "db/escaped.h"
#include "db/export.h"
#include "db/import.h"
#include "db/store.h"
#include "db/temporary.h"
#include "db/try.h"

namespace pitwall::cli {
namespace {

std::string defaultOutput(const std::string& input) {
  if (input == "-") return "stdin.pitwall";
  std::filesystem::path name = inputName(input);
  std::error_code error;
  if (std::filesystem::is_directory(input, error)) return name.string() + ".pitwall";
  for (const char* extension : {".gz", ".zst", ".zip", ".json", ".jsonl", ".sqlite", ".log", ".txt", ".md"}) {
    if (name.extension() == extension) name.replace_extension();
  }
  if (name.extension() == ".pitwall") name.replace_extension(".import");  // never onto an input
  return name.string() + ".pitwall";
}

// `target`: the output as messages about it name it, or "-".
ExitCode importExitCode(const Error& error, const std::string& target) {
  if (error.code == ErrorCode::internal) return kInternal;
  const bool about_output = error.message.find("'" + target) != std::string::npos;
  return about_output ? kUsage : kUnreadableTrace;
}

// SQLite writes a database at many places, so that it is made in a file first.
Result<ImportSummary> importToStandardOutput(const std::vector<std::string>& inputs,
                                             const ImportOptions& options) {
  const TemporaryFolder folder = PITWALL_TRY(TemporaryFolder::create("a trace for standard output"));
  const std::string file = folder.file("trace");
  auto summary = PITWALL_TRY(importToFile(inputs, file, options));
  PITWALL_TRY(copyToStandardOutput(file));
  return summary;
}

}  // namespace

CLI::App* addImport(CLI::App& app, ImportArguments& arguments) {
  auto* command =
      app.add_subcommand("import", "Import traces of other tools; the format is detected by content");
  command
      ->add_option(
          "input", arguments.inputs,
          "Trace of another tool or of Pitwall, uncompressed or compressed (gzip, zstd, xz, zip, tar), or a "
          "folder of them; several become one; - for standard input")
      ->required()
      ->type_name("INPUT");
  command
      ->add_option("-o,--output", arguments.output,
                   "Trace file to write, - for standard output (default: INPUT with .pitwall, here)")
      ->type_name("OUT.pitwall")
      ->check(kNamesAFile);
  return command;
}

int importTraces(const ImportArguments& arguments) {
  const std::string output =
      arguments.output.empty() ? defaultOutput(arguments.inputs.front()) : arguments.output;
  const bool to_stdout = output == "-";
  ImportOptions options;
  ProgressLine line("MB/s", 1e6);
  if (ProgressLine::isWanted())
    options.progress = [&](const ImportProgress& p) { line.show(p.input, p.done_bytes, p.total_bytes); };
  std::string target = "standard output";
  if (!to_stdout) {
    auto checked = replaceableTrace(output);
    if (!checked.has_value()) return reportError(checked.error().message, kUsage);
    target = std::move(*checked);
  }
  const auto summary = to_stdout ? importToStandardOutput(arguments.inputs, options)
                                 : importToFile(arguments.inputs, output, options);
  line.clear();
  if (!summary.has_value()) {
    reportError(summary.error().message, kUsage);
    return importExitCode(summary.error(), target);
  }
  // The trace may be on standard output.
  const std::string done =
      toText(*summary) + (to_stdout ? "written\n" : "written: " + escaped(output) + "\n");
  std::fputs(done.c_str(), to_stdout ? stderr : stdout);
  return kDone;
}

}  // namespace pitwall::cli
