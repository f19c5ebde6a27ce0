#include "tests/bench/lenet_recorded.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/bench/lenet.h"

namespace pitwall::bench {

namespace {

constexpr int kBlockSteps = 20, kBlocks = 15, kProcessPairs = 4;

struct Block {
  double seconds = 0, cpu_seconds = 0;  // the latter of all threads of the process
  double recorder_cpu_seconds = 0;      // of those that only record
};

double cpuSeconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double processCpuSeconds() { return cpuSeconds(CLOCK_PROCESS_CPUTIME_ID); }

// The CPU clock of a thread of this process, as Linux numbers them.
clockid_t clockOf(int tid) { return static_cast<clockid_t>(static_cast<unsigned>(~tid) << 3U | 6U); }

// The recorders' threads, by their names.
double recorderCpuSeconds() {
  double sum = 0;
  std::error_code none;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
    std::ifstream comm(task.path() / "comm");
    std::string name;
    if (std::getline(comm, name) && name.rfind("pitwall ", 0) == 0)
      sum += cpuSeconds(clockOf(std::stoi(task.path().filename())));
  }
  return sum;
}

// A child that runs a block on request.
class Process {
 public:
  Process(const std::string& self, const std::vector<std::pair<std::string, std::string>>& environment) {
    int asks[2], answers[2];
    if (pipe(asks) != 0 || pipe(answers) != 0) std::exit(2);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(asks[0], STDIN_FILENO);
      dup2(answers[1], STDOUT_FILENO);
      for (const int file : {asks[0], asks[1], answers[0], answers[1]}) close(file);
      for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
      execl(self.c_str(), self.c_str(), "--blocks", nullptr);
      _exit(127);
    }
    close(asks[0]);
    close(answers[1]);
    asks_ = asks[1];
    answers_ = answers[0];
  }
  ~Process() {
    close(asks_);
    close(answers_);
    waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  std::optional<Block> run() {
    Block block;
    if (write(asks_, "?", 1) != 1 || read(answers_, &block, sizeof block) != sizeof block) return {};
    return block;
  }

 private:
  pid_t pid_ = -1;
  int asks_ = -1, answers_ = -1;
};

struct Added {
  std::vector<double> percent, cpu_percent;
  std::vector<double> recorder_us, recorder_percent;  // a step's, and of the unrecorded step's CPU time
};

bool measurePair(Process& plain, Process& recorded, Added& added) {
  if (!plain.run() || !recorded.run()) return false;  // warm
  for (int i = 0; i < kBlocks; ++i) {
    std::array<std::optional<Block>, 2> blocks;
    for (int turn = 0; turn < 2; ++turn) {
      const std::size_t which = static_cast<std::size_t>(i + turn) % 2;  // alternate the order
      blocks[which] = which == 0 ? plain.run() : recorded.run();
      if (!blocks[which]) return false;
    }
    added.percent.push_back(100 * (blocks[1]->seconds / blocks[0]->seconds - 1));
    added.cpu_percent.push_back(100 * (blocks[1]->cpu_seconds / blocks[0]->cpu_seconds - 1));
    added.recorder_us.push_back(blocks[1]->recorder_cpu_seconds * 1e6 / kBlockSteps);
    added.recorder_percent.push_back(100 * blocks[1]->recorder_cpu_seconds / blocks[0]->cpu_seconds);
  }
  return true;
}

// The 95 % confidence interval of the median, for any distribution.
std::string withInterval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const auto at = [&](double rank) { return values[static_cast<std::size_t>(std::clamp(rank, 0.0, n - 1))]; };
  const double half = 0.98 * std::sqrt(n);
  char text[96];
  std::snprintf(text, sizeof text, "%+.2f %% (95 %%: %+.2f .. %+.2f)", median(values),
                at(std::floor(n / 2 - half)), at(std::ceil(n / 2 + half)));
  return text;
}

}  // namespace

int runBlocks() {
  auto session = must(Session::open());
  LeNet lenet(*session);
  for (int i = 0; i < kWarmUp; ++i) lenet.step();
  char ask = 0;
  while (read(STDIN_FILENO, &ask, 1) == 1) {
    const double cpu = processCpuSeconds(), recorder = recorderCpuSeconds();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kBlockSteps; ++i) lenet.step();
    const Block block{secondsSince(start), processCpuSeconds() - cpu, recorderCpuSeconds() - recorder};
    if (write(STDOUT_FILENO, &block, sizeof block) != sizeof block) break;
  }
  return 0;
}

void reportRecording(const std::string& self, const std::string& inject) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("lenet_bench_" + std::to_string(getpid()));
  fs::create_directories(folder);
  // Under another name: the engine reports its operators to other tools, but not to Pitwall's library while
  // it records them.
  const std::string tool = folder / "libtool.so";
  fs::create_symlink(inject, tool);
  using Environment = std::vector<std::pair<std::string, std::string>>;
  const std::string trace = folder / "%p.pitwall";
  const std::pair<const char*, Environment> modes[] = {
      {"operators, memory and waits into a trace", {{"PITWALL_TRACE", trace}}},
      {"the same, and NVTX ranges by a second recorder",
       {{"PITWALL_TRACE", trace}, {"NVTX_INJECTION64_PATH", tool}}},
      {"all that, and MXNet's profile.json",
       {{"PITWALL_TRACE", trace}, {"NVTX_INJECTION64_PATH", tool}, {"MXNET_PROFILER_AUTOSTART", "1"}}}};
  fs::current_path(folder);
  for (const auto& [what, environment] : modes) {
    Added added;
    for (int pair = 0; pair < kProcessPairs; ++pair) {
      Process plain(self, {}), recorded(self, environment);
      if (!measurePair(plain, recorded, added)) {
        std::printf("recording %s: a process ended early\n", what);
        break;
      }
    }
    if (added.percent.empty()) continue;
    std::printf("recording %s adds\n  %s of wall time, %s of CPU time, %zu paired blocks of %d steps\n", what,
                withInterval(added.percent).c_str(), withInterval(added.cpu_percent).c_str(),
                added.percent.size(), kBlockSteps);
    std::printf(
        "  of which the recorder's own threads: %.1f us of CPU time a step (quartiles %.1f .. %.1f), %.2f "
        "%%\n",
        median(added.recorder_us), quantile(added.recorder_us, 0.25), quantile(added.recorder_us, 0.75),
        median(added.recorder_percent));
  }
  fs::current_path("/");
  fs::remove_all(folder);
}

}  // namespace pitwall::bench
