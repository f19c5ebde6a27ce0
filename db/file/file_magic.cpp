#include "db/file_magic.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pitwall::magic {

Result<std::string> startOf(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // it may be a pipe
  if (file < 0) return fail(ErrorCode::io, path + ": cannot be opened: " + std::strerror(errno));
  std::string start(kStartBytes, '\0');
  const ssize_t got = ::read(file, start.data(), start.size());
  const int error = errno;
  ::close(file);
  if (got < 0) return fail(ErrorCode::io, path + ": cannot be read: " + std::strerror(error));
  start.resize(static_cast<std::size_t>(got));
  return start;
}

}  // namespace pitwall::magic
