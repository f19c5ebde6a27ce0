#include "runtime/file/open_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pitwall {
namespace {

std::int64_t writtenNs(const struct stat& about) {
  return std::int64_t{about.st_mtim.tv_sec} * 1'000'000'000 + about.st_mtim.tv_nsec;
}

}  // namespace

Result<OpenFile> OpenFile::open(const std::string& path) {
  // Without O_NONBLOCK a pipe that no one writes would be waited for.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return fail(missing ? ErrorCode::notFound : ErrorCode::io,
                fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  }
  struct stat about {};
  const bool known = ::fstat(file, &about) == 0;
  OpenFile opened(path, file, known ? about.st_size : 0, known ? writtenNs(about) : 0);
  if (!known) return fail(ErrorCode::io, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  if (!S_ISREG(about.st_mode)) return fail(ErrorCode::invalidInput, path + ": must be a regular file");
  return opened;
}

OpenFile::~OpenFile() {
  if (file_ >= 0) ::close(file_);
}

Status OpenFile::readAt(Bytes offset, std::span<std::uint8_t> to) const {
  while (!to.empty()) {
    const ssize_t got =
        ::pread(file_, to.data(), std::min<std::size_t>(to.size(), std::size_t{1} << 30), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return fail(ErrorCode::io,
                  fmt::format("{}: at byte {}: cannot be read: {}", path_, offset, std::strerror(errno)));
    if (got == 0)
      return fail(
          ErrorCode::invalidInput,
          fmt::format("{}: the file ends at byte {}, {} bytes before it should: was it written anew while "
                      "it was read?",
                      path_, offset, to.size()));
    offset += got;
    to = to.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

bool OpenFile::hasChanged() const {
  struct stat about {};
  return ::fstat(file_, &about) == 0 && (about.st_size != size_ || writtenNs(about) != written_ns_);
}

void OpenFile::readAhead(Bytes offset, Bytes bytes) const {
  (void)::posix_fadvise(file_, offset, bytes,
                        POSIX_FADV_WILLNEED);  // advice: without it reading takes longer
}

}  // namespace pitwall
