#include "analyzer/record/run/attach.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "analyzer/record/launch/program.h"
#include "analyzer/record/run/sampled_trace.h"
#include "analyzer/record/run/signals.h"
#include "db/proc_files.h"
#include "db/try.h"

namespace pitwall::record {
namespace {

Status checkAttach(const RecordOptions& options) {
  const auto wrong = [](std::string text) { return fail(ErrorCode::invalidInput, std::move(text)); };
  if (*options.pid <= 0) return wrong("--pid: the id of a process, more than 0");
  if (*options.pid == getpid()) return wrong("--pid: the recorder does not record itself");
  if (!options.command.empty()) return wrong("--pid records a running program: leave out the one after --");
  if (options.onednn) return wrong("--onednn works where the program is started by record, not with --pid");
  if (!(options.sample_hz > 0 && options.sample_hz <= 1000))
    return wrong("--sample: samples per second, more than 0 and up to 1000 with --pid");
  if (options.duration_s && !(*options.duration_s > 0)) return wrong("--duration: seconds, more than 0");
  if (options.last_s && !(*options.last_s > 0)) return wrong("--last: seconds, more than 0");
  return {};
}

// The program's name. Errors: as recordProcess.
Result<std::string> checkProcess(pid_t pid) {
  const std::string folder = fmt::format("/proc/{}", pid);
  const auto stat = parseStat(host::readFile(folder + "/stat").value_or(""));
  if (!stat || stat->state == 'Z') {
    return fail(ErrorCode::notFound, fmt::format("no process {} is running: 'ps' lists them", pid));
  }
  struct ::stat owner {};
  if (geteuid() != 0 && ::stat(folder.c_str(), &owner) == 0 && owner.st_uid != geteuid()) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("process {} ({}) belongs to another user: run as that user or as root", pid, stat->name));
  }
  return stat->name;
}

class Attached {
 public:
  explicit Attached(const RecordOptions& options) : options_(options), pid_(*options.pid) {}

  Result<Recorded> run() {
    PITWALL_TRY(checkAttach(options_));
    const std::string name = PITWALL_TRY(checkProcess(pid_));
    const OutputName output = PITWALL_TRY(
        outputName(options_.output.empty() ? name + ".pitwall" : options_.output, pid_, std::nullopt));
    const BlockedSignals signals;
    PITWALL_TRY(trace_.open(output.path, options_.producer, {pid_, name, "", 0}));
    result_.trace = output.path;
    SamplerOptions sampling;
    sampling.is_running = true;
    trace_.startSampler(pid_, options_, std::move(sampling));
    follow(signals);
    finish();
    return std::move(result_);
  }

 private:
  // Signals end the recording, not the program.
  void follow(const BlockedSignals& signals) {
    while (trace_.sampler()->isAlive(pid_)) {
      const TimeNs now = trace_.clock().now();
      if (options_.duration_s && static_cast<double>(now) >= *options_.duration_s * 1e9) return;
      if (const auto status = trace_.work(now); !status.has_value()) {
        result_.failures.push_back(endedEarly(now, status.error()));
        return;
      }
      const auto signal = signals.next(trace_.nextNs() - trace_.clock().now());
      if (signal && (signal->si_signo == SIGINT || signal->si_signo == SIGTERM || signal->si_signo == SIGHUP))
        return;
    }
  }

  void finish() {
    result_.notes.push_back(fmt::format(
        "process {} ran already: what it did before, and what happens inside it, is not recorded", pid_));
    trace_.finishSampling(result_);
    const auto closed = trace_.close(result_);
    if (!closed.has_value() && result_.failures.empty()) result_.failures.push_back(closed.error().message);
  }

  const RecordOptions& options_;
  const pid_t pid_;
  SampledTrace trace_;
  Recorded result_;
};

}  // namespace

Result<Recorded> recordProcess(const RecordOptions& options) { return Attached(options).run(); }

}  // namespace pitwall::record
