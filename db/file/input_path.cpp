#include "db/input_path.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "db/escaped.h"
#include "db/try.h"
#include "db/write_all.h"

namespace pitwall {

namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;
constexpr int kLookMs = 100;  // between two looks at the flag

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number > STDERR_FILENO) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int number;
};

Failure cannotRead(const std::string& shown, int error) {
  if (error == ENOENT) return fail(ErrorCode::notFound, shown + ": no such file");
  if (error == ENXIO)
    return fail(ErrorCode::invalidInput, shown + ": is a socket or a device that is not there; name a file");
  return fail(ErrorCode::io, shown + ": cannot be read: " + std::strerror(error));
}

Status checkKind(mode_t mode, const std::string& shown) {
  if (S_ISREG(mode) || S_ISFIFO(mode)) return {};
  if (S_ISDIR(mode)) return fail(ErrorCode::invalidInput, shown + ": is a folder; name a trace file in it");
  return fail(ErrorCode::invalidInput, shown + ": is a device or socket; name a file or a pipe");
}

// A pipe that has had no writer yet is not at its end: poll() waits for one, where read() returns 0.
Status copyToEnd(int from, int to, const std::string& shown, const std::atomic<bool>* cancel) {
  std::vector<char> buffer(kReadBytes);
  for (bool any = false;;) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed))
      return fail(ErrorCode::cancelled, shown + ": import interrupted");
    pollfd readable{from, POLLIN, 0};
    const int ready = ::poll(&readable, 1, cancel != nullptr ? kLookMs : -1);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got < 0) return cannotRead(shown, errno);
    if (got == 0 && !any) return fail(ErrorCode::invalidInput, shown + ": holds nothing");
    if (got == 0) return {};
    any = true;
    if (const int error = writeAll(to, {buffer.data(), static_cast<std::size_t>(got)}); error != 0)
      return fail(ErrorCode::io, shown + ": its copy cannot be written: " + std::strerror(error) +
                                     "; set TMPDIR to a folder with more space");
  }
}

Result<InputPath> copied(int from, std::string shown, const std::atomic<bool>* cancel) {
  TemporaryFolder folder = PITWALL_TRY(TemporaryFolder::create("a copy of a stream"));
  std::string path = folder.file("stream");
  const Descriptor to(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (to.number < 0) return cannotRead(shown, errno);
  PITWALL_TRY(copyToEnd(from, to.number, shown, cancel));
  return InputPath{std::move(path), std::move(shown),
                   std::make_shared<const TemporaryFolder>(std::move(folder))};
}

}  // namespace

bool isStream(const std::string& name) {
  struct stat about {};
  return name == "-" || (::stat(name.c_str(), &about) == 0 && S_ISFIFO(about.st_mode));
}

Result<InputPath> inputPath(const std::string& name, const std::atomic<bool>* cancel) {
  if (name == "-") {
    const std::string shown = "standard input";
    if (::isatty(STDIN_FILENO) == 1)
      return fail(ErrorCode::invalidInput, shown + ": is a terminal; redirect it from a file or a pipe");
    return copied(STDIN_FILENO, shown, cancel);
  }
  std::string shown = escaped(name);
  // A device or a pipe may make open() wait, or do something.
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat about {};
  if (file.number < 0 || ::fstat(file.number, &about) != 0) return cannotRead(shown, errno);
  PITWALL_TRY(checkKind(about.st_mode, shown));
  if (S_ISFIFO(about.st_mode)) return copied(file.number, std::move(shown), cancel);
  return InputPath{name, std::move(shown), nullptr};
}

}  // namespace pitwall
