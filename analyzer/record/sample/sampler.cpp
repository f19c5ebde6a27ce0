#include "analyzer/record/sample/sampler.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "analyzer/record/sample/process_facts.h"
#include "analyzer/record/sample/trace_clock.h"
#include "analyzer/record/sample/waited_for_cpu.h"
#include "db/host_facts.h"
#include "db/meta.h"

namespace pitwall::record {
namespace {

constexpr TimeNs kRarestFactsNs = 10 * kSecondNs;
constexpr std::size_t kMostOthers = 1 << 20;

// The rate that a collective among all of them can reach; 0 with one GPU, or if the rate of one is unknown.
double slowestLink(const std::vector<SampledGpu>& gpus) {
  double slowest = 0;
  for (const SampledGpu& gpu : gpus) {
    if (gpu.link_bytes_per_second == 0) return 0;
    slowest = slowest == 0 ? gpu.link_bytes_per_second : std::min(slowest, gpu.link_bytes_per_second);
  }
  return gpus.size() > 1 ? slowest : 0;
}

}  // namespace

Sampler::Sampler(pid_t root, TraceSink& sink, const TraceClock& clock, SamplerOptions options)
    : root_(root), clock_(clock), options_(std::move(options)), log_(sink, options_.last_ns) {
  for (const auto& [key, value] : host::hostFacts()) sink.meta(key, value);
  if (!options_.is_running) findProcesses();  // all others that are running
  auto probe = std::make_unique<ProcessProbe>(root, clock.now());
  probe->presume(std::move(options_.command), options_.environment);
  probes_.emplace(root, std::move(probe));
  processes_seen_ = 1;
  if (options_.is_running) attach();
  gpus_ = std::make_unique<GpuSampler>(clock, options_.hz);
  host_ = std::make_unique<HostProbe>(root, clock.now());
  if (options_.stacks != StackMode::off && options_.stack_hz > 0) {
    stacks_ = std::make_unique<StackRecorder>(options_.stacks, options_.stack_hz, sink);
    next_stacks_ns_ = 0;
  }
  waited_for_ns_ = waitedForCpuNs();
  recorder_ns_ = readClock(CLOCK_PROCESS_CPUTIME_ID);
}

// By the number that the system gave last, which /proc/loadavg ends with: a listing of /proc costs far more.
bool Sampler::hasNewThreads() {
  std::string text;
  if (!load_.readInto(AT_FDCWD, "/proc/loadavg", text)) return true;
  std::string newest = text.substr(text.rfind(' ') + 1);
  if (newest == newest_) return false;
  newest_ = std::move(newest);
  return true;
}

// A process belongs to the program if its parent does, or if this process, which started the program, became its
// parent as the subreaper. To a program that was running it never did: what it is the parent of is something else.
// Parents precede their children in the listing unless process ids have wrapped around: then the child is
// found with the next sample.
void Sampler::findProcesses() {
  new_threads_ = hasNewThreads();
  if (!new_threads_) return;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return;
  std::unordered_set<pid_t> others;
  std::string text;
  while (const dirent* entry = readdir(folder)) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid <= 0 || probes_.contains(pid)) continue;
    if (others_.contains(pid)) {
      others.insert(pid);
      continue;
    }
    const auto stat = parseStat(host::readFile(fmt::format("/proc/{}/stat", pid)).value_or(""));
    if (!stat) continue;
    const bool ours = pid != getpid() && !probes_.empty() &&
                      (probes_.contains(stat->parent) || (!options_.is_running && stat->parent == getpid()));
    if (!ours) {
      others.insert(pid);
    } else if (stat->state != 'Z') {
      probes_.emplace(pid, std::make_unique<ProcessProbe>(pid, last_ns_));
      ++processes_seen_;
      newest_.clear();  // its children may have been listed before it
    }
  }
  closedir(folder);
  others_ = others.size() < kMostOthers ? std::move(others) : std::unordered_set<pid_t>();
}

// Its descendants: until no further one is found, since a parent may be listed after its child.
void Sampler::attach() {
  last_ns_ = clock_.now();
  for (int seen = 0; seen != processes_seen_;) {
    seen = processes_seen_;
    others_.clear();
    newest_.clear();
    findProcesses();
  }
  for (auto& [pid, probe] : probes_) probe->startNow();
}

void Sampler::sample() {
  const TimeNs begin = clock_.now(), cost_begin = readClock(CLOCK_THREAD_CPUTIME_ID);
  findProcesses();
  int threads = 0;
  for (auto it = probes_.begin(); it != probes_.end();) {
    ProcessProbe& probe = *it->second;
    const bool alive = sampleProcess(probe);
    threads += probe.threadCount();
    if (probe.cpuNs() > busiest_cpu_ns_ || probe.pid() == busiest_pid_) {
      // Kept, since the process may end before the recording does.
      if (probe.pid() != busiest_pid_ || !alive) busiest_facts_ = probe.facts();
      busiest_cpu_ns_ = probe.cpuNs();
      busiest_pid_ = probe.pid();
    }
    it = alive ? std::next(it) : probes_.erase(it);
  }
  most_threads_ = std::max(most_threads_, threads);
  sampleHost(begin);
  refreshFacts(begin);
  if (samples_++ == 0) first_ns_ = begin;
  last_ns_ = begin;
  // Limits the CPU time of sampling: with many threads samples become rarer.
  const auto cost = static_cast<double>(readClock(CLOCK_THREAD_CPUTIME_ID) - cost_begin);
  cost_ns_ = samples_ <= 1 ? 0 : cost_ns_ + (cost - cost_ns_) / 8;
  const double interval = std::max(1e9 / options_.hz, cost_ns_ / options_.most_cpu_share);
  made_rarer_ += interval > 1e9 / options_.hz;
  next_ns_ = begin + static_cast<TimeNs>(interval);
  latest_ns_ = next_ns_ + static_cast<TimeNs>(interval / 4);
}

void Sampler::sampleStacks() {
  // The first rounds read the symbols of the program and its libraries. To measure every round would cost a system call.
  const bool is_measured = stack_rounds_ >= 16 && stack_rounds_ % 4 == 0;
  const TimeNs begin = clock_.now(), cost_begin = is_measured ? readClock(CLOCK_THREAD_CPUTIME_ID) : 0;
  for (auto& [pid, probe] : probes_) probe->sampleStacks(clock_, log_, *stacks_);
  if (stack_rounds_++ == 0) first_stacks_ns_ = begin;
  last_stacks_ns_ = begin;
  if (is_measured) {
    const auto cost = static_cast<double>(readClock(CLOCK_THREAD_CPUTIME_ID) - cost_begin);
    stack_cost_ns_ += (cost - stack_cost_ns_) / 4;
  }
  const double interval = std::max(1e9 / options_.stack_hz, stack_cost_ns_ / options_.most_stack_share);
  next_stacks_ns_ = begin + static_cast<TimeNs>(interval);
}

bool Sampler::sampleProcess(ProcessProbe& probe) {
  const TimeNs cpu_ns = probe.cpuNs(), children_ns = probe.childrenCpuNs();
  const bool alive = probe.sample(clock_, log_, budget_, new_threads_);
  own_cpu_.used(probe.cpuNs() - cpu_ns);
  own_cpu_.waitedFor(probe.childrenCpuNs() - children_ns);
  if (!alive) own_cpu_.ended(probe.cpuNs() + probe.childrenCpuNs());
  return alive;
}

void Sampler::sampleHost(TimeNs now_ns) {
  const TimeNs waited_for_ns = waitedForCpuNs();
  own_cpu_.waitedFor(waited_for_ns - waited_for_ns_);
  waited_for_ns_ = waited_for_ns;
  if (!host_->hasTracks()) {
    const auto root = probes_.find(root_);
    if (root == probes_.end() || !root->second->described()) return;  // tracks belong to a process
    first_process_ = root->second->process();
    host_->makeTracks(first_process_, log_);
  }
  const TimeNs recorder_ns = readClock(CLOCK_PROCESS_CPUTIME_ID) - recorder_ns_;
  host_->sample(now_ns, own_cpu_.totalNs() + recorder_ns, log_);
}

// Libraries are loaded in the first seconds of a program; later they rarely change.
void Sampler::refreshFacts(TimeNs now_ns) {
  if (now_ns < facts_due_ns_) return;
  for (auto& [pid, probe] : probes_) probe->refreshFacts();
  facts_every_ns_ = std::min(facts_every_ns_ * 2, kRarestFactsNs);
  facts_due_ns_ = now_ns + facts_every_ns_;
}

void Sampler::writeFacts() {
  if (busiest_pid_ != 0) {
    if (const auto found = probes_.find(busiest_pid_); found != probes_.end()) {
      busiest_facts_ = found->second->facts();
    }
    writeProcessFacts(log_.sink(), busiest_pid_, busiest_facts_);
  }
  log_.sink().meta(meta::kSampleHz, fmt::format("{:.3g}", achievedHz()));
  writeStackFacts();
}

void Sampler::writeStackFacts() {
  if (!stacks_ || stack_rounds_ < 3) return;
  const double seconds = static_cast<double>(last_stacks_ns_ - first_stacks_ns_) * 1e-9;
  if (seconds < 0.05) return;
  log_.sink().meta(meta::kStackHz, fmt::format("{:.3g}", static_cast<double>(stack_rounds_ - 1) / seconds));
  log_.sink().meta(meta::kStacksTorn, fmt::format("{} of {}", stacks_->torn, stacks_->taken));
}

void Sampler::stackNotes(std::vector<std::string>& notes) const {
  if (!stacks_) return;
  if (!stacks_->note.empty()) notes.push_back(stacks_->note);
  if (stacks_->torn * 20 > stacks_->taken) {
    notes.push_back(fmt::format(
        "{} of {} stacks changed while they were read, or are deeper than 1024 functions, and were "
        "dropped",
        stacks_->torn, stacks_->taken));
  }
  if (stacks_->frames.isFull()) {
    notes.push_back(
        "the program has more functions than are kept; the stacks of the others name "
        "[other functions]");
  }
}

void Sampler::writeGpus() {
  if (!host_->hasTracks()) return;
  auto gpus = gpus_->take();
  if (gpu_series_.empty()) {
    if (const double rate = slowestLink(gpus); rate > 0)
      log_.sink().meta(meta::kLinkRate, fmt::format("{:.6g}", rate));
    for (const SampledGpu& gpu : gpus) {
      const DeviceRef device = log_.device(gpu.info);
      for (const GpuSeries& series : gpu.series) {
        gpu_series_.push_back(log_.series(first_process_, device, series.name, series.unit));
      }
    }
  }
  std::size_t at = 0;
  for (const SampledGpu& gpu : gpus) {
    for (const GpuSeries& series : gpu.series) {
      if (at == gpu_series_.size()) return;
      for (const CounterSample& sample : series.samples)
        log_.add(gpu_series_[at], sample.time_ns, sample.value);
      ++at;
    }
  }
}

void Sampler::write() {
  writeGpus();
  log_.write(clock_.now());
  writeFacts();
}

void Sampler::finish() {
  writeGpus();
  log_.writeAll(clock_.now());
  writeFacts();
}

std::vector<pid_t> Sampler::alive() const {
  std::vector<pid_t> pids;
  for (const auto& [pid, probe] : probes_) pids.push_back(pid);
  return pids;
}

double Sampler::achievedHz() const {
  if (samples_ < 3 || last_ns_ - first_ns_ < 100'000'000) return 0;  // too short to estimate
  return static_cast<double>(samples_ - 1) * 1e9 / static_cast<double>(last_ns_ - first_ns_);
}

std::vector<std::string> Sampler::notes() const {
  std::vector<std::string> notes;
  if (std::string note = gpus_->note(); !note.empty()) notes.push_back(std::move(note));
  stackNotes(notes);
  if (budget_.threads_denied > 0) {
    notes.push_back(
        "the program had more threads than are sampled individually; the others are only in its total");
  }
  if (samples_ > 10 && achievedHz() < options_.hz * 0.7) {
    const bool by_choice = made_rarer_ > samples_ / 4;
    const std::string why =
        by_choice ? fmt::format("with {} threads a higher rate would have taken over {:.0f} % of a CPU",
                                most_threads_, options_.most_cpu_share * 100)
                  : "the machine was so busy that the recorder did not get a CPU in time";
    notes.push_back(
        fmt::format("sampled {:.3g} times per second instead of {:g}: {}", achievedHz(), options_.hz, why));
  }
  return notes;
}

}  // namespace pitwall::record
