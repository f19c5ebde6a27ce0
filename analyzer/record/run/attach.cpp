#include "analyzer/record/run/attach.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "analyzer/record/launch/program.h"
#include "analyzer/record/run/loss_file.h"
#include "analyzer/record/run/signals.h"
#include "analyzer/record/sample/sampler.h"
#include "analyzer/record/sample/trace_clock.h"
#include "db/meta.h"
#include "db/proc_files.h"
#include "db/store.h"
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
    sink_ = PITWALL_TRY(createTrace(output.path));
    result_.trace = output.path;
    sink_->meta(meta::kProducer, options_.producer);
    sink_->meta(meta::kTraceStartUnixNs, std::to_string(clock_.start_unix_ns));
    loss_file_.open(output.path, clock_, {pid_, name, "", 0});
    makeSampler();
    follow(signals);
    finish();
    return std::move(result_);
  }

 private:
  void makeSampler() {
    SamplerOptions sampling;
    sampling.hz = options_.sample_hz;
    sampling.stacks = options_.stacks;
    sampling.stack_hz = options_.stack_hz;
    sampling.is_running = true;
    if (options_.last_s) sampling.last_ns = static_cast<TimeNs>(*options_.last_s * 1e9);
    sampler_ = std::make_unique<Sampler>(pid_, *sink_, clock_, std::move(sampling));
  }

  bool isAlive() const { return sampler_->isAlive(pid_); }

  // Signals end the recording, not the program.
  void follow(const BlockedSignals& signals) {
    while (isAlive() && !failed_) {
      const TimeNs now = clock_.now();
      if (options_.duration_s && static_cast<double>(now) >= *options_.duration_s * 1e9) return;
      if (now >= sampler_->nextNs()) sampler_->sample();
      if (now >= sampler_->nextStacksNs()) sampler_->sampleStacks();
      if (now >= write_due_ns_) write(now);
      const TimeNs due = std::min({sampler_->nextNs(), sampler_->nextStacksNs(), write_due_ns_});
      const auto signal = signals.next(due - clock_.now());
      if (signal && (signal->si_signo == SIGINT || signal->si_signo == SIGTERM || signal->si_signo == SIGHUP))
        return;
    }
  }

  void write(TimeNs now_ns) {
    write_due_ns_ = now_ns + kSecondNs;
    sampler_->write();
    if (const auto status = sink_->flush(); !status.has_value()) {
      giveUp(status.error());
    } else {
      flushed_ = sampler_->samplesWritten();
      loss_file_.reached(now_ns);
    }
  }

  void giveUp(const Error& why) {
    failed_ = true;
    result_.failures.push_back(fmt::format("recording ended after {:.1f} s, the program continues: {}",
                                           static_cast<double>(clock_.now()) * 1e-9, why.message));
    loss_file_.lost(sampler_->samplesWritten() - flushed_, why.message);
    loss_file_.lostUntil(clock_.now());
  }

  void finish() {
    result_.seconds = static_cast<double>(clock_.now()) * 1e-9;
    sampler_->finish();
    result_.processes = sampler_->processesSeen();
    result_.most_threads = sampler_->mostThreads();
    result_.sample_hz = sampler_->achievedHz();
    result_.notes.push_back(fmt::format(
        "process {} ran already: what it did before, and what happens inside it, is not recorded", pid_));
    for (std::string& note : sampler_->notes()) result_.notes.push_back(std::move(note));
    sink_->meta(meta::kTraceEndNs, std::to_string(static_cast<TimeNs>(result_.seconds * 1e9)));
    sink_->meta(meta::kRecorderSelfNs, std::to_string(readClock(CLOCK_PROCESS_CPUTIME_ID)));
    std::string notes;
    for (const std::string& note : result_.notes) notes += (notes.empty() ? "" : "\n") + note;
    sink_->meta(meta::kRecorderNotes, notes);
    const auto finished = sink_->finish();
    if (finished.has_value()) {
      if (!failed_) loss_file_.remove();
    } else if (!failed_) {
      giveUp(finished.error());
    }
    sampler_.reset();
  }

  const RecordOptions& options_;
  const pid_t pid_;
  TraceClock clock_;
  std::unique_ptr<TraceSink> sink_;
  LossFile loss_file_;
  std::unique_ptr<Sampler> sampler_;
  TimeNs write_due_ns_ = 0;
  std::int64_t flushed_ = 0;
  bool failed_ = false;
  Recorded result_;
};

}  // namespace

Result<Recorded> recordProcess(const RecordOptions& options) { return Attached(options).run(); }

}  // namespace pitwall::record
