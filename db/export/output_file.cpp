#include "db/export/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "db/export.h"
#include "db/file/write_remedy.h"
#include "db/file_magic.h"
#include "db/output_path.h"
#include "db/sqlite/replace.h"
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

Result<std::string> checkedOutput(const std::string& path, const std::string& source, bool is_database) {
  if (path == "-") return path;
  std::string target = PITWALL_TRY(outputPath(path));
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::invalidInput,
                fmt::format("cannot write '{}': {}; choose another path", path, why));
  };
  std::error_code error;
  if (std::filesystem::equivalent(target, source, error)) return refuse("it is the trace that is exported");
  if (!isDatabase(target)) return target;
  if (!is_database) return refuse("it is a trace or another database, which is not replaced by text");
  PITWALL_TRY(store::checkUnused(target));
  return target;
}

std::string temporaryName(const std::string& path) { return fmt::format("{}.{}.tmp", path, ::getpid()); }

OutputFile::OutputFile(std::string path, Unfinished temporary, int file)
    : path_(std::move(path)), temporary_(std::move(temporary)), file_(file) {}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path) {
  if (path == "-") return std::unique_ptr<OutputFile>(new OutputFile(path, {}, STDOUT_FILENO));
  Unfinished temporary(temporaryName(path));
  const int file = ::open(temporary.path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return cannotWrite(path, errno);
  return std::unique_ptr<OutputFile>(new OutputFile(path, std::move(temporary), file));
}

OutputFile::~OutputFile() {
  if (file_ >= 0 && path_ != "-") ::close(file_);
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
  if (::close(std::exchange(file_, -1)) != 0) return cannotWrite(path_, errno);
  if (std::rename(temporary_.path().c_str(), path_.c_str()) != 0) return cannotWrite(path_, errno);
  return {};
}

}  // namespace pitwall::exporting

namespace pitwall {

Status replaceFile(const std::string& path, std::string_view text) {
  const std::string output = PITWALL_TRY(exporting::checkedOutput(path, "", false));
  auto file = PITWALL_TRY(exporting::OutputFile::create(output));
  file->append(text);
  return file->finish();
}

Status copyToStandardOutput(const std::string& path) {
  if (::isatty(STDOUT_FILENO) == 1)
    return fail(ErrorCode::invalidInput,
                "cannot write 'standard output': it is a terminal; redirect it, or name a file with -o");
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::size_t{1} << 20, '\0');
  while (file) {
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto got = static_cast<std::size_t>(file.gcount());
    if (const int error = pitwall::writeAll(STDOUT_FILENO, {bytes.data(), got}); error != 0)
      return exporting::cannotWrite("-", error);
  }
  return file.eof() ? Status() : Status(exporting::cannotWrite(path, EIO));
}

}  // namespace pitwall
