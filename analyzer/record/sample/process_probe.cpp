#include "analyzer/record/sample/process_probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "db/launched_rank.h"
#include "db/proc_files.h"
#include "db/redact.h"
#include "db/usable_cpus.h"

namespace pitwall::record {
namespace {

constexpr TimeNs kNodesEveryNs = 5'000'000'000;  // the kernel walks all pages for this

std::optional<std::string> readIn(int folder, const char* name) {
  std::string text;
  if (!host::readFileInto(folder, name, text)) return std::nullopt;
  return text;
}

// The CPU time of another process with all its threads, including dead ones, in nanoseconds.
std::optional<TimeNs> cpuClock(pid_t pid) {
  clockid_t clock = 0;
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return std::nullopt;
  return TimeNs{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Whether settings in its environment make the program's own OpenMP library bind threads to CPUs.
bool bindsItself(const std::vector<std::pair<std::string, std::string>>& environment) {
  return std::ranges::any_of(environment, [](const auto& entry) {
    const auto& [name, value] = entry;
    return !value.empty() && (name == "GOMP_CPU_AFFINITY" || name == "KMP_AFFINITY" || name == "OMP_PLACES" ||
                              name == "OMP_PROC_BIND");
  });
}

std::string executableName(int folder, const std::string& otherwise) {
  char path[4096];
  const ssize_t size = readlinkat(folder, "exe", path, sizeof path);
  if (size <= 0) return otherwise;
  const std::string_view text(path, static_cast<std::size_t>(size));
  std::string name(text.substr(text.rfind('/') + 1));
  if (const std::size_t deleted = name.find(" (deleted)"); deleted != name.npos) name.resize(deleted);
  return name;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> environmentPairs(std::string_view environ_file) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& entry : splitNul(environ_file)) {
    const std::size_t equals = entry.find('=');
    if (equals == entry.npos || equals == 0) continue;
    pairs.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return pairs;
}

int rankOf(const std::vector<std::pair<std::string, std::string>>& environment) {
  return launchedRank([&](const char* name) {
           const auto found =
               std::ranges::find(environment, name, &std::pair<std::string, std::string>::first);
           return found == environment.end() ? nullptr : found->second.c_str();
         })
      .value_or(0);
}

ProcessProbe::ProcessProbe(pid_t pid, TimeNs since_ns) : pid_(pid), since_ns_(since_ns) {
  folder_ = open(("/proc/" + std::to_string(pid)).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_ >= 0) tasks_ = openat(folder_, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

ProcessProbe::~ProcessProbe() {
  if (tasks_ >= 0) close(tasks_);
  if (folder_ >= 0) close(folder_);
}

void ProcessProbe::refreshFacts() {
  if (auto maps = readIn(folder_, "maps")) {
    facts_.openmp_runtimes = openMpRuntimesOf(*maps);
    facts_.blas = blasOf(*maps);
  }
  // An OpenMP library with thread binding enabled binds the first thread too; the process may use more CPUs.
  if (auto cpus = host::affinityCpus(bindsItself(facts_.environment) ? 0 : pid_); !cpus.empty())
    facts_.affinity = std::move(cpus);
}

void ProcessProbe::presume(std::vector<std::string> command, std::span<const std::string> environment) {
  command_ = std::move(command);
  for (const std::string& entry : environment) {
    if (const std::size_t equals = entry.find('='); equals != entry.npos) {
      facts_.environment.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
    }
  }
}

void ProcessProbe::startNow() {
  const auto stat = parseStat(readIn(folder_, "stat").value_or(""));
  if (!stat) return;
  const TimeNs tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  cpu_ns_ = threads_cpu_ns_ = cpuClock(pid_).value_or(0);
  kernel_cpu_ns_ = stat->kernel_ticks * tick_ns;
  children_cpu_ns_ = stat->children_ticks * tick_ns;
  minor_ = stat->minor_faults;
  major_ = stat->major_faults;
  (void)readIo(io_);
  ran_before_ = true;
}

void ProcessProbe::describe(const StatLine& stat, SampleLog& log) {
  std::vector<std::string> command = splitNul(readIn(folder_, "cmdline").value_or(""));
  const bool ended = stat.state == 'Z';
  // During an exec the new program's arguments are not available yet; a few programs clear theirs.
  if (command.empty() && !ended && ++samples_without_command_ < 3) return;
  image_ = stat.image;
  // The addresses that identify an image change one by one while a program starts, its arguments do not. A program that starts itself
  // again does so for another environment.
  if (described_ && command == command_) {
    if (auto pairs = environmentPairs(readIn(folder_, "environ").value_or("")); !pairs.empty())
      facts_.environment = std::move(pairs);
    return;
  }
  if (!command.empty()) command_ = command;
  command = command_;  // of one that has ended: as presumed
  described_ = true;
  if (auto pairs = environmentPairs(readIn(folder_, "environ").value_or("")); !pairs.empty()) {
    facts_ = {};
    facts_.environment = std::move(pairs);
  }
  refreshFacts();
  ProcessInfo info;
  info.pid = pid_;
  info.name = executableName(folder_, stat.name);
  info.command_line = joined(redactArguments(command));
  info.rank = rankOf(facts_.environment);
  process_ = log.process(std::move(info));
  threads_.clear();
  stacks_.reset();
  locks_.clear();
  nodes_.clear();
  makeTracks(log);
}

void ProcessProbe::makeTracks(SampleLog& log) {
  const auto track = [&](const char* name, const char* unit) { return log.series(process_, name, unit); };
  series_.cpu = track("cpu", "cores");
  series_.kernel_cpu = track("cpu in the kernel", "cores");
  series_.resident = track("resident memory", "bytes");
  series_.threads = track("threads", "");
  series_.major = track("major faults", "1/s");
  series_.minor = track("minor faults", "1/s");
  Io now;
  io_readable_ = readIo(now);
  if (!io_readable_) return;
  series_.read = track("read", "bytes/s");
  series_.written = track("written", "bytes/s");
  series_.read_calls = track("read by calls", "bytes/s");
  series_.written_calls = track("written by calls", "bytes/s");
}

bool ProcessProbe::readIo(Io& io) {
  std::string text;
  if (!io_file_.readInto(folder_, "io", text)) return false;
  io.read = host::fieldOf(text, "read_bytes").value_or(0);
  io.written = host::fieldOf(text, "write_bytes").value_or(0);
  io.read_calls = host::fieldOf(text, "rchar").value_or(0);
  io.written_calls = host::fieldOf(text, "wchar").value_or(0);
  return true;
}

void ProcessProbe::sampleIo(TimeNs now_ns, SampleLog& log) {
  Io now;
  if (!io_readable_ || !readIo(now)) return;
  const double seconds = static_cast<double>(now_ns - since_ns_) * 1e-9;
  const auto rate = [&](SeriesRef series, std::int64_t value, std::int64_t before) {
    log.add(series, since_ns_, static_cast<double>(std::max<std::int64_t>(0, value - before)) / seconds);
  };
  rate(series_.read, now.read, io_.read);
  rate(series_.written, now.written, io_.written);
  rate(series_.read_calls, now.read_calls, io_.read_calls);
  rate(series_.written_calls, now.written_calls, io_.written_calls);
  io_ = now;
}

void ProcessProbe::sampleProcess(const StatLine& stat, TimeNs now_ns, SampleLog& log) {
  const double seconds = static_cast<double>(now_ns - since_ns_) * 1e-9;
  static const TimeNs tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  const auto cores = [&](SeriesRef series, TimeNs now, TimeNs& before) {
    log.add(series, since_ns_, static_cast<double>(std::max<TimeNs>(0, now - before)) * 1e-9 / seconds);
    before = now;
  };
  cores(series_.cpu, cpuClock(pid_).value_or(cpu_ns_), cpu_ns_);
  cores(series_.kernel_cpu, stat.kernel_ticks * tick_ns, kernel_cpu_ns_);
  log.add(series_.minor, since_ns_, static_cast<double>(stat.minor_faults - minor_) / seconds);
  log.add(series_.major, since_ns_, static_cast<double>(stat.major_faults - major_) / seconds);
  children_cpu_ns_ = stat.children_ticks * tick_ns;
  minor_ = stat.minor_faults;
  major_ = stat.major_faults;
  sampleIo(now_ns, log);
  if (stat.state == 'Z') return;  // ended: its memory and threads are freed
  log.add(series_.resident, now_ns, static_cast<double>(stat.resident_pages * sysconf(_SC_PAGESIZE)));
  log.add(series_.threads, now_ns, static_cast<double>(stat.threads));
}

// On machines with several memory nodes, the nodes of its pages.
void ProcessProbe::sampleMemoryNodes(TimeNs now_ns, SampleLog& log) {
  if (nodes_read_ns_ != 0 && now_ns - nodes_read_ns_ < kNodesEveryNs) return;
  nodes_read_ns_ = now_ns;
  static const bool several = access("/sys/devices/system/node/node1", F_OK) == 0;
  if (!several) return;
  const auto pages = numaPages(readIn(folder_, "numa_maps").value_or(""));
  for (std::size_t node = 0; node < pages.size(); ++node) {
    if (node == nodes_.size()) {
      nodes_.push_back(log.series(process_, "memory on node " + std::to_string(node), "bytes"));
    }
    log.add(nodes_[node], now_ns, static_cast<double>(pages[node] * sysconf(_SC_PAGESIZE)));
  }
}

void ProcessProbe::findThreads(ProbeBudget& budget) {
  const int listing = openat(folder_, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* folder = listing >= 0 ? fdopendir(listing) : nullptr;
  if (folder == nullptr) {
    if (listing >= 0) close(listing);
    return;
  }
  while (const dirent* entry = readdir(folder)) {
    const auto tid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (tid <= 0 || threads_.contains(tid)) continue;
    if (budget.threads_left <= 0) {
      ++budget.threads_denied;
      continue;
    }
    const auto added = threads_.emplace(tid, ThreadProbe(tid, since_ns_)).first;
    if (ran_before_) added->second.startNow(tasks_);
  }
  closedir(folder);
  ran_before_ = false;
}

void ProcessProbe::sampleThreads(const TraceClock& clock, SampleLog& log, ProbeBudget& budget) {
  std::vector<ThreadProbe> ended;
  TimeNs used_ns = 0;  // by those that live
  for (auto it = threads_.begin(); it != threads_.end();) {
    const bool had_tracks = it->second.hasTracks();
    const bool alive = it->second.sample(tasks_, clock, process_, locks_, log);
    if (!had_tracks && it->second.hasTracks()) --budget.threads_left;
    if (alive) {
      used_ns += it->second.ranNs();
      ++it;
    } else {
      ended.push_back(std::move(it->second));
      it = threads_.erase(it);
    }
  }
  const TimeNs total_ns = cpuClock(pid_).value_or(threads_cpu_ns_);
  endThreads(ended, total_ns - threads_cpu_ns_ - used_ns, clock.now(), log);
  threads_cpu_ns_ = total_ns;
}

// When threads ended since their last samples is not known. All together they have used at most the CPU time of the
// process that no other thread has used: at their last rates that takes the part of the time for which they lived.
void ProcessProbe::endThreads(std::vector<ThreadProbe>& ended, TimeNs most_ns, TimeNs now_ns,
                              SampleLog& log) {
  double would_run_ns = 0;
  for (const ThreadProbe& thread : ended) would_run_ns += thread.wouldRunNs(now_ns);
  const auto most = static_cast<double>(std::max<TimeNs>(most_ns, 0));
  const double lived = would_run_ns > most ? most / would_run_ns : 1;
  for (ThreadProbe& thread : ended) thread.end(now_ns, lived, log);
}

void ProcessProbe::sampleStacks(const TraceClock& clock, SampleLog& log, StackRecorder& recorder) {
  if (!described_) return;
  if (!stacks_) {
    stacks_ = std::make_unique<StackProbe>(pid_, locks_, recorder);
    threads_.try_emplace(pid_, pid_, since_ns_);  // the first thread counts from the start
  }
  stacks_->begin(folder_, clock.now());
  for (auto& [tid, thread] : threads_) {
    if (thread.hasTracks() || tid == pid_) {
      std::string name = stacks_->sample(tasks_, tid, thread.row(tasks_, process_, log), clock, log);
      if (!name.empty()) thread.keepName(std::move(name), log);
    }
  }
  stacks_->end(clock.now(), log);
}

void ProcessProbe::end(TimeNs now_ns, SampleLog& log) {
  if (!described_) return;
  for (auto& [tid, thread] : threads_) thread.end(now_ns, 1, log);
  threads_.clear();
  const TimeNs at = std::max(now_ns, since_ns_);
  log.add(series_.cpu, at, 0);
  log.add(series_.kernel_cpu, at, 0);
  log.add(series_.threads, at, 0);
  log.add(series_.resident, at, 0);
  if (stacks_) {
    stacks_->endAll(at, log);
    stacks_.reset();
  }
  described_ = false;
}

bool ProcessProbe::sample(const TraceClock& clock, SampleLog& log, ProbeBudget& budget, bool new_threads) {
  std::string text;
  const bool there = folder_ >= 0 && tasks_ >= 0 && stat_file_.readInto(folder_, "stat", text);
  const auto stat = there ? parseStat(text) : std::nullopt;
  const TimeNs now = clock.now();
  if (!stat) {
    end(now, log);
    return false;
  }
  const bool ended = stat->state == 'Z';
  const bool presumed = ended && !described_ && !command_.empty();
  // A process that ends has no image for a moment before it is a zombie.
  const bool other_image = stat->image != 0 && stat->image != image_;
  if (presumed || (!ended && (!described_ || other_image))) {
    describe(*stat, log);
  }
  if (!described_ || now <= since_ns_) return !ended;
  if (!ended) sampleMemoryNodes(now, log);
  sampleProcess(*stat, now, log);
  // A listing costs more than the files of several threads.
  if (new_threads || stat->threads != static_cast<std::int64_t>(threads_.size())) findThreads(budget);
  sampleThreads(clock, log, budget);
  since_ns_ = now;
  if (ended) end(now, log);
  return !ended;
}

}  // namespace pitwall::record
