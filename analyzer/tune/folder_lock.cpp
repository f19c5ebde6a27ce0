#include "analyzer/tune/folder_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pitwall::tuning {

Result<FolderLock> FolderLock::take(const std::string& folder) {
  const std::string path = folder + "/lock";
  FolderLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.file_ < 0)
    return fail(ErrorCode::io, fmt::format("{}: cannot be made: {}; choose another folder with -o", path,
                                           std::strerror(errno)));
  if (::flock(lock.file_, LOCK_EX | LOCK_NB) == 0) return lock;
  return fail(ErrorCode::io,
              fmt::format("{}: another search runs in this folder; wait for its end, or choose another "
                          "folder with -o",
                          folder));
}

FolderLock::~FolderLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace pitwall::tuning
