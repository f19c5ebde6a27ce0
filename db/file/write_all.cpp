#include "db/write_all.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace pitwall {

namespace {

// `writeSome` writes a part of the bytes and returns its length, or -1 with errno.
template <class WriteSome>
int writeParts(int file, std::string_view bytes, WriteSome writeSome) {
  while (!bytes.empty()) {
    const ssize_t written = writeSome(bytes);
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0) {
      return EIO;  // no progress and no reason; another attempt could be endless
    } else if (errno == EAGAIN) {
      pollfd ready{file, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

int writeAll(int file, std::string_view bytes) {
  return writeParts(file, bytes,
                    [file](std::string_view part) { return ::write(file, part.data(), part.size()); });
}

int writeAllAt(int file, std::string_view bytes, std::int64_t at) {
  return writeParts(
      file, bytes, [file, end = at + static_cast<std::int64_t>(bytes.size())](std::string_view part) {
        return ::pwrite(file, part.data(), part.size(), end - static_cast<std::int64_t>(part.size()));
      });
}

}  // namespace pitwall
