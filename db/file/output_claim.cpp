#include "db/file/output_claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "db/file/write_remedy.h"

namespace pitwall {

namespace {

enum class Kind { free, held, foreign, removed };

// Takes the lock if it is free. Removed: its last owner has gone since the file was opened.
Kind kindOf(int descriptor, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  if (::fstat(descriptor, &opened) != 0 || !S_ISREG(opened.st_mode) || opened.st_size != 0)
    return Kind::foreign;
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return Kind::held;
  const bool same =
      ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
  return same ? Kind::free : Kind::removed;
}

}  // namespace

Result<OutputClaim> OutputClaim::take(const std::string& path) {
  const std::string lock = path + ".lock";
  for (;;) {
    int file = -1, error = 0;
    Kind kind = Kind::free;
    Unfinished made = Unfinished::madeBy([&] {
      file = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
      error = errno;
      if (file >= 0) kind = kindOf(file, lock);
      return file >= 0 && kind == Kind::free ? lock : std::string();
    });
    if (file < 0) {
      return fail(ErrorCode::io,
                  "cannot write '" + lock + "': " + std::strerror(error) + "; " + writeRemedy(error));
    }
    if (kind == Kind::free) return OutputClaim(std::move(made), file);
    ::close(file);
    if (kind == Kind::held)
      return fail(ErrorCode::io,
                  "cannot write '" + path +
                      "': another command is writing it; wait for that to end, or choose another path");
    if (kind == Kind::foreign)
      return fail(ErrorCode::invalidInput,
                  "cannot write '" + path + "': '" + lock +
                      "', the name of its lock, is a file of another program; choose another path");
  }
}

// The name goes while the lock is held.
OutputClaim::~OutputClaim() {
  file_ = Unfinished();
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace pitwall
