#include "db/export/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "db/export.h"
#include "db/file/resolved_path.h"
#include "db/file/write_remedy.h"
#include "db/file_magic.h"
#include "db/try.h"
#include "db/write_all.h"

namespace pitwall::exporting {

namespace {

constexpr std::size_t kLarge = std::size_t{1} << 20;

bool isDatabase(const std::string& path) {
  const Result<std::string> start = magic::startOf(path);
  return start.has_value() && magic::isSqlite(*start);
}

}  // namespace

Failure cannotWrite(std::string_view path, int error) {
  return fail(ErrorCode::io, fmt::format("cannot write '{}': {}; {}", path == "-" ? "standard output" : path,
                                         std::strerror(error), writeRemedy(error)));
}

Status checkReplaceable(const std::string& path, const std::string& source, bool is_database) {
  if (path.empty()) return fail(ErrorCode::invalidInput, "no file name to write to: give one");
  struct stat about {};
  if (path == "-" || ::stat(path.c_str(), &about) != 0) return {};
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::invalidInput,
                fmt::format("cannot write '{}': {}; choose another path", path, why));
  };
  if (S_ISDIR(about.st_mode)) return refuse("it is a folder");
  if (is_database && !S_ISREG(about.st_mode)) return refuse("it is a device, pipe or socket");
  std::error_code error;
  if (std::filesystem::equivalent(path, source, error)) return refuse("it is the trace that is exported");
  if (!is_database && S_ISREG(about.st_mode) && isDatabase(path))
    return refuse("it is a trace or another database, which is not replaced by text");
  return {};
}

std::string temporaryName(const std::string& path) { return fmt::format("{}.{}.tmp", path, ::getpid()); }

Status moveIntoPlace(const std::string& temporary, const std::string& path) {
  if (std::rename(temporary.c_str(), path.c_str()) == 0) return {};
  const int error = errno;
  ::unlink(temporary.c_str());
  return cannotWrite(path, error);
}

OutputFile::OutputFile(std::string path, std::string temporary, int file)
    : path_(std::move(path)), temporary_(std::move(temporary)), file_(file) {}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path) {
  if (path == "-") return std::unique_ptr<OutputFile>(new OutputFile(path, {}, STDOUT_FILENO));
  struct stat about {};
  const bool in_place = ::stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode);
  const std::string name = in_place ? path : temporaryName(path);
  const int flags = in_place ? O_WRONLY | O_CLOEXEC : O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  const int file = ::open(name.c_str(), flags, 0666);
  if (file < 0) return cannotWrite(path, errno);
  return std::unique_ptr<OutputFile>(new OutputFile(path, in_place ? "" : name, file));
}

OutputFile::~OutputFile() {
  if (file_ < 0 || path_ == "-") return;
  ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status OutputFile::writeAll() {
  if (error_ == 0) error_ = pitwall::writeAll(file_, {buffer_.data(), buffer_.size()});
  buffer_.clear();
  if (error_ != 0) return cannotWrite(path_, error_);
  return {};
}

Status OutputFile::flush() {
  if (buffer_.size() < kLarge) return {};
  return writeAll();
}

Status OutputFile::finish() {
  PITWALL_TRY(writeAll());
  if (path_ == "-") return {};
  // A full network disk reports the error only here.
  if (::close(std::exchange(file_, -1)) != 0) {
    const int error = errno;
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    return cannotWrite(path_, error);
  }
  return temporary_.empty() ? Status() : moveIntoPlace(temporary_, path_);
}

}  // namespace pitwall::exporting

namespace pitwall {

Status replaceFile(const std::string& path, std::string_view text) {
  PITWALL_TRY(exporting::checkReplaceable(path, "", false));
  auto file = PITWALL_TRY(exporting::OutputFile::create(path == "-" ? path : resolvedPath(path)));
  file->append(text);
  return file->finish();
}

}  // namespace pitwall
