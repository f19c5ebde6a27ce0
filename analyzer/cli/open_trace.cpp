#include "analyzer/cli/open_trace.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <filesystem>
#include <vector>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/print.h"
#include "analyzer/cli/progress_line.h"
#include "db/escaped.h"
#include "db/file_magic.h"
#include "db/import.h"
#include "db/input_path.h"
#include "db/temporary.h"
#include "db/try.h"

namespace pitwall::cli {
namespace {

// Whether the file is to be imported: not a Pitwall database (mark at byte 68 of its header), and not
// missing, empty or not a regular file, for which Trace::open reports the error.
bool isForeign(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0) return false;
  const Result<std::string> start = magic::startOf(path);
  if (!start.has_value()) return false;
  const bool truncated = magic::isSqlite(*start) && start->size() < magic::kStartBytes;
  return !truncated && magic::sqliteProgram(*start) != magic::kTraceId;
}

Result<OpenedTrace> openForeign(const std::string& path, const std::string& shown) {
  const TemporaryFolder folder = PITWALL_TRY(TemporaryFolder::create("the import"));
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string temporary = folder.file(name + ".pitwall");
  ProgressLine line("MB/s", 1e6);
  ImportOptions options;
  options.progress = [&](const ImportProgress& p) { line.show(p.input, p.done_bytes, p.total_bytes); };
  const std::vector<std::string> inputs{path};
  auto imported = importToFile(inputs, temporary, options);
  line.clear();
  const ImportSummary summary = PITWALL_TRY(imported);
  auto trace = PITWALL_TRY(Trace::open(temporary));
  const ImportedInput& input = summary.inputs.front();
  printNote("pitwall: note: {} is {}, imported for this command only ('pitwall import' keeps it{})\n", shown,
            input.format, input.complete ? "" : "; it is truncated: " + input.damage);
  return OpenedTrace{std::move(trace), true, nullptr};
}

}  // namespace

Result<OpenedTrace> openTrace(const std::string& name) {
  if (!isStream(name)) {
    if (isForeign(name)) return openForeign(name, escaped(name));
    auto trace = PITWALL_TRY(Trace::open(name));
    return OpenedTrace{std::move(trace), false, nullptr};
  }
  const InputPath input = PITWALL_TRY(inputPath(name));
  if (isForeign(input.path)) return openForeign(input.path, input.shown);
  auto trace = PITWALL_TRY(Trace::open(input.path));
  return OpenedTrace{std::move(trace), true, input.copy};
}

int reportTraceError(const Error& error) {
  reportError(error.message, kUnreadableTrace);
  return error.code == ErrorCode::internal ? kInternal : kUnreadableTrace;
}

}  // namespace pitwall::cli
