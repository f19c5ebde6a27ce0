#include "analyzer/record/capture/output_capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <future>
#include <thread>
#include <utility>

#include "analyzer/record/capture/verbose_filter.h"
#include "db/write_all.h"

namespace pitwall::record {
namespace {

// The parts of a line arrive within this time of each other; a prompt that looks like the start of a marker
// is delayed that long.
constexpr int kLateMs = 20;

bool sameFile(int a, int b) {
  struct stat first {
  }, second{};
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino && first.st_rdev == second.st_rdev;
}

}  // namespace

struct OutputCapture::State {
  int ours = -1, programs = -1;
  int stop_read = -1, stop_write = -1;
  bool terminal = false, error_too = false;
  std::string log_path;
  bool leave_lines = false;
  int log = -1;
  std::string note;
  std::atomic<bool> logging = true, ended = false;
  std::thread thread;

  ~State() {
    for (const int file : {ours, programs, stop_read, stop_write, log}) {
      if (file >= 0) close(file);
    }
  }
  bool openEnds();
  void run();
  bool pass(std::string& bytes);
  void keep(std::string& lines);
};

bool OutputCapture::State::openEnds() {
  std::array<int, 2> stop{};
  if (pipe2(stop.data(), O_CLOEXEC) != 0) return false;
  stop_read = stop[0];
  stop_write = stop[1];
  error_too = sameFile(STDOUT_FILENO, STDERR_FILENO);
  termios settings{};
  winsize size{};
  if (tcgetattr(STDOUT_FILENO, &settings) == 0) {
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    cfmakeraw(&settings);  // raw: the real terminal does the processing
    if (openpty(&ours, &programs, nullptr, &settings, &size) == 0) {
      fcntl(ours, F_SETFD, FD_CLOEXEC);
      fcntl(programs, F_SETFD, FD_CLOEXEC);
      return terminal = true;
    }
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  ours = ends[0];
  programs = ends[1];
  return true;
}

// False when our output has no reader any more.
bool OutputCapture::State::pass(std::string& bytes) {
  const int error = writeAll(STDOUT_FILENO, bytes);
  bytes.clear();
  return error == 0;
}

void OutputCapture::State::keep(std::string& lines) {
  if (!lines.empty() && logging && note.empty()) {
    if (log < 0) log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    const int error = log < 0 ? errno : writeAll(log, lines);
    if (error != 0)
      note = fmt::format("oneDNN's lines are lost from here on: {}: {}", log_path, std::strerror(error));
  }
  lines.clear();
}

void OutputCapture::State::run() {
  VerboseFilter filter(leave_lines);
  std::string buffer(1 << 16, '\0'), passed, lines;
  for (bool stopping = false;;) {
    std::array<pollfd, 2> wait = {{{ours, POLLIN, 0}, {stop_read, POLLIN, 0}}};
    const int ready = poll(wait.data(), stopping ? 1 : 2, filter.holds() ? kLateMs : stopping ? 0 : -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      if (stopping && !filter.holds()) break;  // no more data
      filter.flush(passed);
      if (!pass(passed)) break;
      continue;
    }
    stopping = stopping || (wait[1].revents & POLLIN) != 0;
    if (wait[0].revents == 0) continue;
    const ssize_t got = read(ours, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;  // all writers have closed the other end; a terminal reports EIO
    filter.take(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)), passed, lines);
    keep(lines);
    if (!pass(passed)) break;
  }
  filter.finish(passed, lines);
  keep(lines);
  pass(passed);
  // Processes that still write get the error of a closed pipe, as without the capture.
  close(std::exchange(ours, -1));
  ended = true;
}

OutputCapture::OutputCapture(std::unique_ptr<State> state) : state_(std::move(state)) {}

OutputCapture::~OutputCapture() { stop(); }

Result<std::unique_ptr<OutputCapture>> OutputCapture::open() {
  auto state = std::make_unique<State>();
  if (!state->openEnds()) {
    return fail(ErrorCode::io,
                fmt::format("--onednn: no pipe for the program's output: {}", std::strerror(errno)));
  }
  return std::unique_ptr<OutputCapture>(new OutputCapture(std::move(state)));
}

int OutputCapture::programEnd() const { return state_->programs; }
bool OutputCapture::errorToo() const { return state_->error_too; }
bool OutputCapture::ended() const { return state_->ended; }
void OutputCapture::stopLogging() { state_->logging = false; }

void OutputCapture::begin(std::string log, bool leave_lines) {
  close(std::exchange(state_->programs, -1));
  state_->log_path = std::move(log);
  state_->leave_lines = leave_lines;
  state_->thread = std::thread([this] { state_->run(); });
}

void OutputCapture::resize() {
  winsize size{};
  if (state_->terminal && !state_->ended && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    ioctl(state_->ours, TIOCSWINSZ, &size);
  }
}

void OutputCapture::wait() {
  if (state_->thread.joinable()) state_->thread.join();
}

void OutputCapture::stop() {
  if (state_->stop_write >= 0) [[maybe_unused]]
    const auto written = write(state_->stop_write, "s", 1);
  wait();
}

std::string OutputCapture::note() const { return state_->note; }

}  // namespace pitwall::record
