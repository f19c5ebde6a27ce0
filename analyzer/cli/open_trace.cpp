#include "analyzer/cli/open_trace.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <vector>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/input_name.h"
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

// Whether it is to be imported: a folder, or a file that is not a Pitwall database (mark at byte 68 of its header), and not
// missing, empty or not a regular file, for which Trace::open reports the error.
bool isForeign(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return false;
  if (S_ISDIR(about.st_mode)) return true;
  if (!S_ISREG(about.st_mode) || about.st_size == 0) return false;
  const Result<std::string> start = magic::startOf(path);
  if (!start.has_value()) return false;
  const bool truncated = magic::isSqlite(*start) && start->size() < magic::kStartBytes;
  return !truncated && magic::sqliteProgram(*start) != magic::kTraceId;
}

// "PyTorch Kineto JSON", or "4 traces: PyTorch Kineto JSON".
std::string contentOf(const ImportSummary& summary) {
  std::set<std::string> formats;
  for (const ImportedInput& input : summary.inputs) formats.insert(input.format);
  const std::string names = fmt::format("{}", fmt::join(formats, ", "));
  const std::size_t count = summary.inputs.size();
  return count == 1 ? names : fmt::format("{} traces: {}", count, names);
}

std::string damageOf(const ImportSummary& summary) {
  const auto damaged =
      std::ranges::find_if(summary.inputs, [](const auto& input) { return !input.complete; });
  if (damaged == summary.inputs.end()) return {};
  const std::string which = summary.inputs.size() == 1 ? "it" : escaped(damaged->path);
  return fmt::format("; {} is truncated: {}", which, damaged->damage);
}

Result<OpenedTrace> openForeign(const std::string& path, const std::string& shown) {
  const TemporaryFolder folder = PITWALL_TRY(TemporaryFolder::create("the import"));
  const std::string temporary = folder.file(inputName(path) + ".pitwall");
  ProgressLine line("MB/s", 1e6);
  ImportOptions options;
  options.progress = [&](const ImportProgress& p) { line.show(p.input, p.done_bytes, p.total_bytes); };
  const std::vector<std::string> inputs{path};
  auto imported = importToFile(inputs, temporary, options);
  line.clear();
  const ImportSummary summary = PITWALL_TRY(imported);
  auto trace = PITWALL_TRY(Trace::open(temporary));
  printNote("pitwall: note: {} is {}, imported for this command only ('pitwall import' keeps it{})\n", shown,
            contentOf(summary), damageOf(summary));
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
