#include "analyzer/cli/open_trace.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/interrupt.h"
#include "analyzer/cli/print.h"
#include "analyzer/cli/progress_line.h"
#include "db/import.h"
#include "db/try.h"

namespace pitwall::cli {
namespace {

// Whether the file is to be imported: not a Pitwall database (mark at byte 68 of its header), and not
// missing, empty or not a regular file, for which Trace::open reports the error.
bool isForeign(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0) return false;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 72> head{};
  const ssize_t got = ::read(file, head.data(), head.size());
  ::close(file);
  const bool database = got >= 16 && std::memcmp(head.data(), "SQLite format 3", 16) == 0;
  const bool is_pitwall =
      database && (got < static_cast<ssize_t>(head.size()) || std::memcmp(head.data() + 68, "Pitw", 4) == 0);
  return !is_pitwall;
}

// A folder in the system's temporary folder, removed by the destructor.
class TemporaryFolder {
 public:
  static Result<std::unique_ptr<TemporaryFolder>> make() {
    std::error_code error;
    std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    if (error) parent = "/tmp";
    std::string name = (parent / "pitwall-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      return fail(ErrorCode::io,
                  fmt::format("cannot create a folder in '{}' for the import: {}; set TMPDIR to a "
                              "writable folder",
                              parent.string(), std::strerror(errno)));
    }
    return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(name));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

Result<OpenedTrace> openForeign(const std::string& path) {
  auto folder = PITWALL_TRY(TemporaryFolder::make());
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string temporary = folder->file(name + ".pitwall");
  ProgressLine line("MB/s", 1e6);
  ImportOptions options;
  options.cancel = &InterruptGuard::flag();
  options.progress = [&](const ImportProgress& p) { line.show(p.input, p.done_bytes, p.total_bytes); };
  const InterruptGuard guard;
  const std::vector<std::string> inputs{path};
  auto imported = importToFile(inputs, temporary, options);
  line.clear();
  const ImportSummary summary = PITWALL_TRY(imported);
  auto trace = PITWALL_TRY(Trace::open(temporary));
  const ImportedInput& input = summary.inputs.front();
  printNote("pitwall: note: {} is {}, imported for this command only ('pitwall import' keeps it{})\n", path,
            input.format, input.complete ? "" : "; it is truncated: " + input.damage);
  return OpenedTrace{std::move(trace), true};
}

}  // namespace

Result<OpenedTrace> openTrace(const std::string& path) {
  if (isForeign(path)) return openForeign(path);
  auto trace = PITWALL_TRY(Trace::open(path));
  return OpenedTrace{std::move(trace), false};
}

int reportTraceError(const Error& error) {
  reportError(error.message, kUnreadableTrace);
  if (error.code == ErrorCode::cancelled) return kInterrupted;
  return error.code == ErrorCode::internal ? kInternal : kUnreadableTrace;
}

}  // namespace pitwall::cli
