#include "analyzer/record/launch/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pitwall::record {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

bool setApart() {
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) return false;
  close(nothing);
  return setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

// In the new process: waits for the gate, then executes the program. Returns errno when it cannot.
int becomeProgram(const ChildSetup& setup, int gate) {
  char go = 0;
  while (read(gate, &go, 1) < 0 && errno == EINTR) {
  }
  if (go != 'g') _exit(127);  // the recorder has ended or failed
  if (setup.output >= 0) {
    dup2(setup.output, STDOUT_FILENO);
    if (setup.error_too) dup2(setup.output, STDERR_FILENO);
  }
  if (setup.is_apart && !setApart()) return errno;
  if (!setup.folder.empty() && chdir(setup.folder.c_str()) != 0) return errno;
  auto command = setup.command;
  auto environment = setup.environment(getpid());
  auto arguments = pointers(command), variables = pointers(environment);
  sigprocmask(SIG_SETMASK, &setup.signal_mask, nullptr);
  execve(setup.path.c_str(), arguments.data(), variables.data());
  if (errno != ENOEXEC) return errno;
  // A script without "#!": shells run it themselves.
  std::vector<std::string> shell = {"/bin/sh", setup.path};
  shell.insert(shell.end(), setup.command.begin() + 1, setup.command.end());
  auto shell_arguments = pointers(shell);
  execve("/bin/sh", shell_arguments.data(), variables.data());
  return errno;
}

}  // namespace

Result<Child> Child::fork(const ChildSetup& setup) {
  std::array<int, 2> gate{-1, -1}, answer{-1, -1};
  if (pipe2(gate.data(), O_CLOEXEC) != 0 || pipe2(answer.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::io, fmt::format("{}: cannot be started: {}", setup.path, std::strerror(errno)));
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    close(gate[1]);
    close(answer[0]);
    const int error = becomeProgram(setup, gate[0]);
    [[maybe_unused]] const auto written = write(answer[1], &error, sizeof error);
    _exit(127);
  }
  const int error = errno;
  close(gate[0]);
  close(answer[1]);
  Child child(pid, gate[1], answer[0], setup.path);
  if (pid < 0) {
    return fail(ErrorCode::io, fmt::format("{}: cannot be started: {}", setup.path, std::strerror(error)));
  }
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      gate_(std::exchange(other.gate_, -1)),
      answer_(std::exchange(other.answer_, -1)),
      path_(std::move(other.path_)) {}

Child::~Child() {
  const bool waits = gate_ >= 0 && pid_ > 0;
  if (gate_ >= 0) close(gate_);
  if (answer_ >= 0) close(answer_);
  if (waits) waitpid(pid_, nullptr, 0);
}

Status Child::start() {
  [[maybe_unused]] const auto written = write(gate_, "g", 1);
  close(std::exchange(gate_, -1));
  int error = 0;
  ssize_t got = 0;
  while ((got = read(answer_, &error, sizeof error)) < 0 && errno == EINTR) {
  }
  close(std::exchange(answer_, -1));
  if (got != sizeof error) return {};
  waitpid(pid_, nullptr, 0);
  const auto code = error == ENOENT ? ErrorCode::notFound : ErrorCode::unsupported;
  const char* hint =
      error == ENOENT ? " (the interpreter in its first line, or its loader, does not exist)" : "";
  return fail(code, fmt::format("{}: cannot be run: {}{}", path_, std::strerror(error), hint));
}

}  // namespace pitwall::record
