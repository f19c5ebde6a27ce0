#include "runtime/graph/model_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "db/output_path.h"
#include "db/try.h"
#include "db/write_all.h"

namespace pitwall::graph {

Result<ModelInput> ModelInput::open(const std::string& path) {
  // Without O_NONBLOCK a pipe that no one writes would be waited for.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return fail(missing ? ErrorCode::notFound : ErrorCode::io,
                fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  }
  ModelInput input(path, file, 0);
  struct stat about {};
  if (::fstat(file, &about) != 0)
    return fail(ErrorCode::io, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  if (!S_ISREG(about.st_mode)) return fail(ErrorCode::invalidInput, path + ": must be a regular file");
  input.size_ = about.st_size;
  return input;
}

ModelInput::ModelInput(ModelInput&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      size_(other.size_),
      position_(other.position_) {}

ModelInput::~ModelInput() {
  if (file_ >= 0) ::close(file_);
}

Failure ModelInput::wrong(const std::string& what) const {
  return fail(ErrorCode::invalidInput, fmt::format("{}: at byte {}: {}", path_, position_, what));
}

Status ModelInput::read(std::span<std::byte> to) {
  if (static_cast<Bytes>(to.size()) > left())
    return wrong("the file ends too early: it is damaged or incomplete");
  while (!to.empty()) {
    const ssize_t got = ::read(file_, to.data(), std::min<std::size_t>(to.size(), std::size_t{1} << 30));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return fail(ErrorCode::io, fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
    if (got == 0) return wrong("the file has become shorter while it was read");
    position_ += got;
    to = to.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

Result<ModelOutput> ModelOutput::create(const std::string& path) {
  const std::string target = PITWALL_TRY(outputPath(path));
  Unfinished draft(fmt::format("{}.{}.tmp", target, ::getpid()));
  const int file = ::open(draft.path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const int error = errno;
  ModelOutput output(target, std::move(draft), file);
  if (file < 0) return output.refused(error);
  return output;
}

ModelOutput::ModelOutput(ModelOutput&& other) noexcept
    : path_(std::move(other.path_)), draft_(std::move(other.draft_)), file_(std::exchange(other.file_, -1)) {}

ModelOutput::~ModelOutput() {
  if (file_ >= 0) ::close(file_);
}

Failure ModelOutput::refused(int error) const {
  return fail(ErrorCode::io, fmt::format("{}: cannot be written: {}; choose another path, or make room",
                                         path_, std::strerror(error)));
}

Status ModelOutput::write(std::string_view bytes) {
  const int error = writeAll(file_, bytes);
  return error == 0 ? Status() : refused(error);
}

Status ModelOutput::finish() {
  // A full network disk reports the error only here.
  if (::close(std::exchange(file_, -1)) != 0) return refused(errno);
  if (std::rename(draft_.path().c_str(), path_.c_str()) != 0) return refused(errno);
  return {};
}

}  // namespace pitwall::graph
