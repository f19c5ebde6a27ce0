#include "analyzer/tune/trial.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <tuple>
#include <utility>

#include "analyzer/record/launch/child.h"
#include "analyzer/record/launch/program.h"
#include "analyzer/record/sample/host_load.h"
#include "analyzer/record/sample/trace_clock.h"
#include "analyzer/tune/leftover.h"
#include "db/cgroup.h"
#include "db/escaped.h"
#include "db/try.h"

namespace pitwall::tuning {
namespace {

using Clock = std::chrono::steady_clock;
using record::kSecondNs;

constexpr double kDisturbedShare = 0.05;  // of all CPUs
constexpr double kShortestS = 0.15;       // the kernel counts CPU time in steps of 10 ms
constexpr std::int64_t kMostOutput = 64 << 20;
constexpr TimeNs kGraceNs = 3 * kSecondNs;  // between the request to end and the end

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double cpuCount() { return static_cast<double>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))); }

bool endsUs(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

// What the machine did beside the trial.
class LoadWatch {
 public:
  // CPUs in use beside `own_cpu_s`, and those taken by the host of this virtual machine, since the construction.
  std::pair<double, double> elapsed(double own_cpu_s) const {
    const auto now = record::hostLoad();
    const double seconds = secondsSince(begin_);
    if (!before_ || !now || seconds < kShortestS) return {0, 0};
    const auto spent = [&](TimeNs from, TimeNs to) { return static_cast<double>(to - from) * 1e-9; };
    return {std::max(0.0, (spent(before_->busy_ns, now->busy_ns) - own_cpu_s) / seconds),
            spent(before_->steal_ns, now->steal_ns) / seconds};
  }

 private:
  std::optional<record::HostLoad> before_ = record::hostLoad();
  Clock::time_point begin_ = Clock::now();
};

bool isDisturbed(double cpus) { return cpus > kDisturbedShare * cpuCount(); }

// Closes a descriptor.
struct OwnedFile {
  explicit OwnedFile(int opened) : file(opened) {}
  ~OwnedFile() {
    if (file >= 0) ::close(file);
  }
  OwnedFile(const OwnedFile&) = delete;
  OwnedFile& operator=(const OwnedFile&) = delete;
  int file;
};

std::vector<std::string> environmentWith(const Assignments& settings) {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!settings.contains(text.substr(0, text.find('=')))) entries.push_back(text);
  }
  for (const auto& [name, value] : settings) entries.push_back(name + "=" + value);
  return entries;
}

std::string lastLine(const std::string& text) {
  const std::size_t end = text.find_last_not_of("\r\n \t");
  if (end == std::string::npos) return {};
  const std::size_t before = text.find_last_of("\r\n", end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, std::min<std::size_t>(end + 1 - begin, 120));
}

// One program and its process group.
class RunningTrial {
 public:
  RunningTrial(pid_t pid, double most_seconds) : pid_(pid), most_seconds_(most_seconds) {}
  ~RunningTrial() { ::kill(-pid_, SIGKILL); }
  RunningTrial(const RunningTrial&) = delete;
  RunningTrial& operator=(const RunningTrial&) = delete;

  // Until the program has ended; TERM first, then KILL, after a signal to us or too long a time.
  void follow(const record::BlockedSignals& signals) {
    while (!reaped()) {
      if (const auto signal = signals.next(nextNs()); signal && endsUs(signal->si_signo)) {
        interrupted_ = true;
        askToEnd();
      }
      if (most_seconds_ > 0 && secondsSince(begin_) > most_seconds_ && !asked_) {
        timed_out_ = true;
        askToEnd();
      }
      if (asked_ && secondsSince(*asked_) * 1e9 > static_cast<double>(kGraceNs)) ::kill(-pid_, SIGKILL);
    }
  }

  void describe(TrialEnd& end, bool out_of_memory) const {
    end.seconds = seconds_;
    end.interrupted = interrupted_;
    const std::string last = lastLine(end.output);
    const std::string said = last.empty() ? "" : fmt::format("; its last line: {}", escaped(last));
    if (timed_out_) {
      end.cause = fmt::format("did not end within {:.3g} s and was ended{}", most_seconds_, said);
    } else if (WIFSIGNALED(status_)) {
      const int number = WTERMSIG(status_);
      end.cause = out_of_memory && number == SIGKILL
                      ? "out of memory: the kernel ended it"
                      : fmt::format("ended by signal {} ({}){}", number, ::strsignal(number), said);
    } else if (WEXITSTATUS(status_) != 0) {
      end.cause = out_of_memory ? fmt::format("out of memory: the kernel ended one of its processes{}", said)
                                : fmt::format("exit code {}{}", WEXITSTATUS(status_), said);
    }
  }
  double cpuSeconds() const { return cpu_s_; }

 private:
  void askToEnd() {
    if (!asked_) asked_ = Clock::now();
    ::kill(-pid_, SIGTERM);
  }

  TimeNs nextNs() const {
    if (asked_) return kSecondNs / 10;
    if (most_seconds_ <= 0) return 3600 * kSecondNs;
    return static_cast<TimeNs>(std::max(0.0, most_seconds_ - secondsSince(begin_)) * 1e9) + 1'000'000;
  }

  bool reaped() {
    rusage used{};
    if (::wait4(pid_, &status_, WNOHANG, &used) != pid_) return false;
    seconds_ = secondsSince(begin_);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    cpu_s_ = seconds(used.ru_utime) + seconds(used.ru_stime);
    return true;
  }

  pid_t pid_;
  double most_seconds_;
  Clock::time_point begin_ = Clock::now();
  std::optional<Clock::time_point> asked_;
  bool interrupted_ = false, timed_out_ = false;
  int status_ = 0;
  double seconds_ = 0, cpu_s_ = 0;
};

}  // namespace

std::string outputOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::int64_t size = file.tellg();
  if (size <= 0) return {};
  const std::int64_t from = std::max<std::int64_t>(0, size - kMostOutput);
  std::string text(static_cast<std::size_t>(size - from), '\0');
  file.seekg(from);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

Result<TrialEnd> runTrial(const TrialSetup& setup, const record::BlockedSignals& signals) {
  std::error_code error;
  if (!setup.folder.empty() && !std::filesystem::is_directory(setup.folder) &&
      !std::filesystem::create_directories(setup.folder, error)) {
    return fail(ErrorCode::io,
                fmt::format("{}: the folder of a trial cannot be made: {}", setup.folder, error.message()));
  }
  const OwnedFile log(::open(setup.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (log.file < 0)
    return fail(ErrorCode::io, fmt::format("{}: cannot be written: {}", setup.log, std::strerror(errno)));
  const char* path = std::getenv("PATH");
  record::ChildSetup child_setup;
  child_setup.path =
      PITWALL_TRY(record::findProgram(setup.command.front(), path != nullptr ? path : "/usr/bin:/bin"));
  if (!setup.folder.empty()) child_setup.path = std::filesystem::absolute(child_setup.path, error).string();
  child_setup.command = setup.command;
  child_setup.environment = [&](pid_t) { return environmentWith(setup.environment); };
  child_setup.signal_mask = signals.before();
  child_setup.output = log.file;
  child_setup.error_too = true;
  child_setup.folder = setup.folder;
  child_setup.is_apart = true;
  auto child = PITWALL_TRY(record::Child::fork(child_setup));
  const std::string kill_file = host::oomKillFile(child.pid());
  const auto kills = host::oomKills(kill_file), host_kills = host::hostOomKills();
  if (!setup.group_file.empty()) noteGroup(setup.group_file, child.pid());
  const LoadWatch load;
  PITWALL_TRY(child.start());
  TrialEnd end;
  RunningTrial trial(child.pid(), setup.most_seconds);
  trial.follow(signals);
  std::tie(end.others_cpus, end.steal_cpus) = load.elapsed(trial.cpuSeconds());
  end.disturbed = isDisturbed(end.others_cpus) || isDisturbed(end.steal_cpus);
  end.output = outputOf(setup.log);
  const bool killed = host::oomKills(kill_file) > kills || (!kills && host::hostOomKills() > host_kills);
  trial.describe(end, killed);
  return end;
}

double awaitQuiet(double most_seconds, const record::BlockedSignals& signals, bool& interrupted) {
  constexpr TimeNs kLookNs = kSecondNs / 5;
  const auto begin = Clock::now();
  while (secondsSince(begin) < most_seconds) {
    const LoadWatch load;
    const auto looked = Clock::now();
    while (secondsSince(looked) < static_cast<double>(kLookNs) * 1e-9) {
      if (const auto signal = signals.next(kLookNs); signal && endsUs(signal->si_signo)) {
        interrupted = true;
        return secondsSince(begin);
      }
    }
    const auto [others, steal] = load.elapsed(0);
    if (!isDisturbed(others) && !isDisturbed(steal)) break;
  }
  return secondsSince(begin);
}

}  // namespace pitwall::tuning
