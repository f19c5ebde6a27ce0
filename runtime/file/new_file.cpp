#include "runtime/file/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "db/output_path.h"
#include "db/try.h"
#include "db/write_all.h"

namespace pitwall {
namespace {

// A file without a name, which nothing is left of when the process is killed. -1 where the file system has none.
int openUnnamed(const std::string& folder) {
  return ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
}

}  // namespace

Result<NewFile> NewFile::create(const std::string& path) {
  const std::string target = PITWALL_TRY(outputPath(path));
  Unfinished draft(fmt::format("{}.{}.tmp", target, ::getpid()));
  int file = openUnnamed(target.substr(0, target.rfind('/') + 1));
  const bool is_unnamed = file >= 0;
  if (!is_unnamed) file = ::open(draft.path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const int error = errno;
  NewFile output(target, std::move(draft), file);
  output.is_unnamed_ = is_unnamed;
  if (file < 0) return output.refused(error);
  return output;
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      draft_(std::move(other.draft_)),
      file_(std::exchange(other.file_, -1)),
      is_unnamed_(other.is_unnamed_) {}

NewFile::~NewFile() {
  if (file_ >= 0) ::close(file_);
}

Failure NewFile::refused(int error) const {
  return fail(ErrorCode::io, fmt::format("{}: cannot be written: {}; choose another path, or make room",
                                         path_, std::strerror(error)));
}

Status NewFile::write(std::string_view bytes) {
  const int error = writeAll(file_, bytes);
  return error == 0 ? Status() : refused(error);
}

Status NewFile::complete() {
  if (file_ < 0) return {};
  if (is_unnamed_) {
    ::unlink(draft_.path().c_str());  // of an earlier process with this number
    const std::string opened = fmt::format("/proc/self/fd/{}", file_);
    if (::linkat(AT_FDCWD, opened.c_str(), AT_FDCWD, draft_.path().c_str(), AT_SYMLINK_FOLLOW) != 0)
      return refused(errno);
  }
  // A full network disk reports the error only here.
  if (::close(std::exchange(file_, -1)) != 0) return refused(errno);
  return {};
}

Status NewFile::finish() {
  PITWALL_TRY(complete());
  if (std::rename(draft_.path().c_str(), path_.c_str()) != 0) return refused(errno);
  return {};
}

}  // namespace pitwall
