#include "analyzer/record/run/recording.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "analyzer/record/merge/merge.h"
#include "analyzer/record/run/attach.h"
#include "analyzer/record/run/merge_interrupt.h"
#include "analyzer/record/sample/waited_for_cpu.h"
#include "db/cgroup.h"
#include "db/host_facts.h"
#include "db/launched_rank.h"
#include "db/meta.h"
#include "db/redact.h"
#include "db/try.h"

namespace pitwall::record {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ownEnvironment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

std::string escapedPercent(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? std::string("%%") : std::string(1, c);
  return text;
}

Status checkOptions(const RecordOptions& options) {
  const auto wrong = [](const char* text) { return fail(ErrorCode::invalidInput, text); };
  if (options.command.empty() || options.command.front().empty()) {
    return wrong("name the program to record after --: pitwall record -- PROGRAM ARGUMENTS");
  }
  if (!(options.sample_hz >= 0 && options.sample_hz <= 1000))
    return wrong("--sample: samples per second, from 0 (none) to 1000");
  if (options.duration_s && !(*options.duration_s > 0)) return wrong("--duration: seconds, more than 0");
  if (options.last_s && !(*options.last_s > 0)) return wrong("--last: seconds, more than 0");
  return {};
}

// Whether the user has enabled oneDNN's verbose lines: then they are part of the program's output.
bool verboseAsked() {
  return std::getenv("ONEDNN_VERBOSE") != nullptr || std::getenv("DNNL_VERBOSE") != nullptr ||
         std::getenv("MKLDNN_VERBOSE") != nullptr;
}

}  // namespace

Status Recording::prepare() {
  PITWALL_TRY(checkOptions(options_));
  const char* path = std::getenv("PATH");
  program_ = PITWALL_TRY(findProgram(options_.command.front(), path != nullptr ? path : "/usr/bin:/bin"));
  children_cpu_ns_ = waitedForCpuNs();
  rank_ = launchedRank(&std::getenv);
  name_template_ = options_.output;
  if (name_template_.empty()) {
    name_template_ = escapedPercent(fs::path(options_.command.front()).filename().string()) + ".pitwall";
  }
  PITWALL_TRY(outputName(name_template_, 1, rank_));
  injection_ = findInjectionLibrary(options_.executable);
  if (injection_.empty()) {
    result_.notes.push_back(
        "NVTX and CUDA are not recorded: libpitwall_inject.so is not beside this command");
  }
  own_environment_ = ownEnvironment();
  if (options_.onednn) {
    capture_ = PITWALL_TRY(OutputCapture::open());
  }
  return {};
}

// Also called in the program's process, before exec: both must get the same result.
OutputName Recording::nameFor(pid_t pid) const { return outputName(name_template_, pid, rank_).value(); }

std::vector<std::string> Recording::environmentFor(pid_t pid, std::vector<std::string>& notes) const {
  ProgramSettings settings;
  settings.injection_library = injection_;
  if (options_.frameworks) settings.python_folder = findPythonFolder(injection_);
  std::error_code none;
  const std::string full = fs::absolute(nameFor(pid).path, none).string();
  settings.trace_template = escapedPercent(partsFolder(full)) + "/%p.pitwall";
  settings.only_domains = options_.only_domains;
  settings.last_s = options_.last_s;
  settings.onednn = options_.onednn;
  if (options_.duration_s) {
    settings.until_monotonic_s =
        static_cast<double>(trace_.clock().start_monotonic_ns) * 1e-9 + *options_.duration_s;
  }
  return programEnvironment(own_environment_, settings, notes);
}

Status Recording::openTrace() {
  const OutputName name = nameFor(program_pid_);
  PITWALL_TRY(trace_.open(name.path, options_.producer,
                          {program_pid_, fs::path(program_).filename().string(), "", rank_.value_or(0)}));
  result_.trace = name.path;
  if (name.rank_added && !options_.output.empty()) {
    result_.notes.push_back(
        fmt::format("rank {} of a distributed job writes {}; choose the name with %r", *rank_, name.path));
  }
  std::error_code none;
  fs::remove_all(partsFolder(name.path), none);  // of an earlier recording that was killed
  if (!fs::create_directory(partsFolder(name.path), none)) {
    result_.notes.push_back(fmt::format("activity inside the program is not recorded: {}: {}",
                                        partsFolder(name.path), none.message()));
  }
  return {};
}

void Recording::startSampler() {
  SamplerOptions sampling;
  sampling.command = options_.command;
  std::vector<std::string> told_already;
  sampling.environment = environmentFor(program_pid_, told_already);
  trace_.startSampler(program_pid_, options_, std::move(sampling));
}

// Without sampling, only the program and its start are known from outside.
void Recording::writeProgram() {
  TraceSink& sink = trace_.sink();
  for (const auto& [key, value] : host::hostFacts()) sink.meta(key, value);
  std::string line;
  for (const std::string& word : redactArguments(options_.command)) line += (line.empty() ? "" : " ") + word;
  const ProcessId process =
      sink.process({program_pid_, fs::path(program_).filename().string(), line, rank_.value_or(0)});
  const ThreadId thread = sink.thread({process, program_pid_, "main"});
  Event event;
  event.kind = EventKind::instant;
  event.start_ns = event.pushed_ns = event.ready_ns = trace_.clock().now();
  event.name = sink.string("program started");
  sink.events(sink.track({TrackKind::thread, process, thread, {}, "", ""}), {&event, 1});
}

void Recording::abandonTrace() {
  trace_.abandon();
  std::error_code none;
  fs::remove_all(partsFolder(result_.trace), none);
}

Status Recording::startProgram(const BlockedSignals& signals) {
  ChildSetup setup;
  setup.path = program_;
  setup.command = options_.command;
  setup.environment = [this](pid_t pid) {
    std::vector<std::string> told_by_parent;
    return environmentFor(pid, told_by_parent);
  };
  setup.signal_mask = signals.before();
  if (capture_) {
    setup.output = capture_->programEnd();
    setup.error_too = capture_->errorToo();
  }
  auto child = PITWALL_TRY(Child::fork(setup));
  program_pid_ = child.pid();
  environmentFor(program_pid_, result_.notes);
  oom_kill_file_ = host::oomKillFile(program_pid_);
  oom_kills_ = host::oomKills(oom_kill_file_);
  host_oom_kills_ = host::hostOomKills();
  // Not before the fork: ignored signals stay ignored in the program.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  PITWALL_TRY(openTrace());
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans of the program become our children
  if (options_.sample_hz > 0) {
    startSampler();
  } else {
    writeProgram();
  }
  if (auto status = child.start(); !status.has_value()) {
    abandonTrace();
    return status;
  }
  return {};
}

Result<Recorded> Recording::run() {
  PITWALL_TRY(prepare());
  const BlockedSignals signals;
  PITWALL_TRY(startProgram(signals));
  tracing_ = true;
  if (capture_) capture_->begin(verboseLog(result_.trace), verboseAsked());
  if (trace_.sampler()) trace_.sampler()->sample();
  follow(signals);
  return std::move(result_);
}

void Recording::follow(const BlockedSignals& signals) {
  while (!over()) {
    if (const auto signal = signals.next(nextWork() - now())) take(*signal);
    work(now());
  }
  finishTrace();
  trace_.lostUntil(now());
  if (!program_ended_ || merge_interrupted_) {
    result_.exit_code = 128 + SIGINT;  // as in shells
    result_.exit_signal = 0;
  }
  if (capture_) {
    if (interrupts_ > 1) capture_->stop();
    capture_->wait();
  }
}

// Whether the recording is complete.
bool Recording::over() const {
  if (interrupts_ > 1) return true;  // the program had time to end
  if (!program_ended_) return false;
  if (capture_ && !capture_->ended()) return false;  // a process may still print
  const bool others = trace_.sampler() != nullptr && trace_.sampler()->anyAlive();
  return !options_.wait_all || !others;
}

TimeNs Recording::nextWork() const {
  constexpr TimeNs kSoonNs = 1'000'000;
  if (program_ended_ && capture_) return now() + kSoonNs;
  if (!tracing_) return now() + 3600 * kSecondNs;
  const TimeNs next = trace_.nextNs();
  return options_.duration_s ? std::min(next, static_cast<TimeNs>(*options_.duration_s * 1e9)) : next;
}

void Recording::work(TimeNs now_ns) {
  if (!tracing_) return;
  if (const auto status = trace_.work(now_ns); !status.has_value()) {
    result_.failures.push_back(endedEarly(now_ns, status.error()));
    return finishTrace();
  }
  if (options_.duration_s && static_cast<double>(now_ns) >= *options_.duration_s * 1e9) finishTrace();
}

// A terminal sends its signals to the program and to this process; signals of other senders reach only this
// process.
void Recording::take(const siginfo_t& signal) {
  if (signal.si_signo == SIGCHLD) return reap();
  if (signal.si_signo == SIGWINCH) {
    if (capture_) capture_->resize();
    return;
  }
  if (signal.si_code != SI_KERNEL && !program_ended_) kill(program_pid_, signal.si_signo);
  if (signal.si_signo == SIGINT) ++interrupts_;
}

void Recording::reap() {
  siginfo_t ended{};
  if (!program_ended_ &&
      waitid(P_PID, static_cast<id_t>(program_pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      ended.si_pid == program_pid_) {
    if (tracing_ && trace_.sampler())
      trace_.sampler()->sample();  // while its last counters can still be read
  }
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid != program_pid_) continue;
    program_ended_ = true;
    if (WIFSIGNALED(status)) result_.exit_signal = WTERMSIG(status);
    if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
  }
}

void Recording::writeOomKills() {
  const auto group = host::oomKills(oom_kill_file_), host = host::hostOomKills();
  const auto write = [&](std::string_view key, const auto& now, const auto& before) {
    if (now && before) trace_.sink().meta(key, std::to_string(*now - *before));
  };
  write(meta::kOomKills, group, oom_kills_);
  write(meta::kHostOomKills, host, host_oom_kills_);
}

void Recording::writeProgramEnd() {
  if (!program_ended_) return;
  TraceSink& sink = trace_.sink();
  if (result_.exit_signal != 0) {
    sink.meta(meta::kExitSignal, std::to_string(result_.exit_signal));
  } else {
    sink.meta(meta::kExitCode, std::to_string(result_.exit_code));
  }
  sink.meta(meta::kProcessCpuNs, std::to_string(waitedForCpuNs() - children_cpu_ns_));
}

void Recording::noteContinuing() {
  if (!trace_.sampler() || !program_ended_) return;
  const auto alive = trace_.sampler()->alive();
  if (alive.empty()) return;
  result_.notes.push_back(
      fmt::format("{} of the program's processes continue without recording (the first is {}); --wait-all "
                  "records them to their end",
                  alive.size(), alive.front()));
}

void Recording::finishTrace() {
  if (!tracing_) return;
  tracing_ = false;
  trace_.finishSampling(result_);
  noteContinuing();
  writeOomKills();
  writeProgramEnd();
  if (capture_) {
    capture_->stopLogging();
    if (std::string note = capture_->note(); !note.empty()) result_.failures.push_back(std::move(note));
  }
  if (const auto closed = trace_.close(result_); !closed.has_value()) {
    if (result_.failures.empty()) result_.failures.push_back(closed.error().message);
    std::error_code not_empty;
    fs::remove(partsFolder(result_.trace), not_empty);
    return;  // the parts stay
  }
  mergeTrace();
}

void Recording::mergeTrace() {
  Result<LeftOut> merged = LeftOut{};
  {
    MergeInterrupt interrupt(program_ended_ ? 0 : program_pid_, interrupts_);
    merged = mergeParts(result_.trace, options_.keep_parts, &interrupt.cancelled());
    interrupts_ = interrupt.interrupts();
  }
  merge_interrupted_ = !merged.has_value() && merged.error().code == ErrorCode::cancelled;
  if (merge_interrupted_) {
    result_.failures.push_back(
        fmt::format("interrupted: {0} holds only samples; 'pitwall import {0} {1}/* -o all.pitwall' merges "
                    "the parts recorded "
                    "inside the program",
                    result_.trace, partsFolder(result_.trace)));
    return;
  }
  if (!merged.has_value()) {
    result_.failures.push_back(
        fmt::format("{} holds only samples; the parts recorded inside the program stay in {}: {}",
                    result_.trace, partsFolder(result_.trace), merged.error().message));
    return;
  }
  for (std::string& part : merged->unreadable) result_.failures.push_back(std::move(part));
  for (std::string& part : merged->empty) result_.notes.push_back(std::move(part));
}

}  // namespace pitwall::record

namespace pitwall {

Result<Recorded> recordProgram(const RecordOptions& options) {
  return options.pid ? record::recordProcess(options) : record::Recording(options).run();
}

}  // namespace pitwall
