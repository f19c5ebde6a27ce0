// How long an analysis takes, part by part and rule by rule, beside one sequential scan of the same file's
// columns, the lower bound of anything that reads every event. Times are CPU time, to exclude other load;
// everything runs on one thread, so on an idle machine the elapsed time is the same.
//
// Options: see kUsage below.
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <optional>
#include <span>

#include "analyzer/analysis.h"
#include "db/reader.h"
#include "db/try.h"
#include "tests/bench/analyze_traces.h"

namespace {

using namespace pitwall;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double cpuSeconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// A line of /proc/self/status, in MB.
long statusMb(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    long kb = 0;
    if (word == key + ":" && status >> kb) return kb / 1024;
  }
  return 0;
}

// Memory that only the program itself can give back; pages of files, which the kernel drops when it needs
// memory, are excluded.
long peakMb() { return statusMb("VmHWM") - statusMb("RssFile"); }

using Make = decltype(&bench::writeTraining);

// One pass over all columns of all events.
Result<double> scanSeconds(Trace& trace, bool prints = true) {
  const double start = cpuSeconds();
  std::int64_t sum = 0;
  const auto tracks = trace.tracks();
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    if (tracks[i].kind == TrackKind::counter) continue;
    auto status = trace.eventColumns({.track = TrackId{i + 1}}, [&sum](const EventSpans& events) {
      for (const auto span :
           {events.start_ns, events.dur_ns, events.pushed_ns, events.ready_ns, events.correlation,
            events.value, events.name, events.op, events.kernel, events.args, events.kind, events.depth})
        sum = std::accumulate(span.begin(), span.end(), sum);
      return true;
    });
    PITWALL_TRY(status);
  }
  const double seconds = cpuSeconds() - start;
  // The sum is printed, so that the compiler does not remove the loop.
  if (prints || sum == 0)
    fmt::print("one sequential scan        {:8.3f} s  (sum of all columns {})\n", seconds, sum);
  return seconds;
}

std::string passingPath() {
  return (std::filesystem::temp_directory_path() / fmt::format("pitwall-analyze-bench-{}.pitwall", getpid()))
      .string();
}

int printError(const Error& error) { return fmt::print(stderr, "{}\n", error.message), 1; }

void printTimings(Report& report, double scan) {
  double rules = 0;
  auto& timings = report.timings;
  for (const auto& [part, ns] : timings) {
    const double took = static_cast<double>(ns) * 1e-9;
    if (part.rfind("rule ", 0) == 0) rules += took;
    if (part.rfind("rule ", 0) != 0) fmt::print("{:<26} {:8.3f} s  {:6.2f} scans\n", part, took, took / scan);
  }
  std::sort(timings.begin(), timings.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  fmt::print("all rules                  {:8.3f} s:\n", rules);
  for (const auto& [part, ns] : timings) {
    if (part.rfind("rule ", 0) == 0)
      fmt::print("  {:<32} {:8.3f} ms\n", part.substr(5), static_cast<double>(ns) * 1e-6);
  }
}

// In a separate process: peak memory is never reset.
int apart(const std::function<int()>& work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int code = work();
    std::fflush(nullptr);
    _exit(code);
  }
  int state = 0;
  if (child < 0 || waitpid(child, &state, 0) != child) return 1;
  return WIFEXITED(state) ? WEXITSTATUS(state) : 1;
}

int run(Make make, std::int64_t events, std::string path) {
  const bool passing = path.empty();  // the file is not needed afterwards
  if (passing) path = passingPath();
  if (passing || !std::filesystem::exists(path)) {
    const int code = apart([&] {  // creating it is not measured
      const auto status = make(path, events);
      return status.has_value() ? 0 : printError(status.error());
    });
    if (code != 0) return code;
  }
  auto opened = Trace::open(path);
  if (!opened.has_value()) return printError(opened.error());
  const auto scan = scanSeconds(*opened.value());
  if (!scan.has_value()) return printError(scan.error());
  const auto start = Clock::now();
  const double cpu = cpuSeconds();
  auto report = analyzeTrace(*opened.value());
  if (!report.has_value()) return printError(report.error());
  const double seconds = secondsSince(start), cpu_seconds = cpuSeconds() - cpu;
  printTimings(report.value(), scan.value());
  fmt::print("everything                 {:8.3f} s  {:6.2f} scans, {:.3f} s elapsed, {:.0f} ns an event\n",
             cpu_seconds, cpu_seconds / scan.value(), seconds,
             cpu_seconds * 1e9 / static_cast<double>(std::max<std::int64_t>(1, events)));
  fmt::print("memory at most             {:8} MB, and {} MB of pages of files\n", peakMb(),
             statusMb("RssFile"));
  if (passing) std::filesystem::remove(path);
  return 0;
}

int growOnce(std::int64_t events, const std::string& path) {
  auto opened = Trace::open(path);
  if (!opened.has_value()) return printError(opened.error());
  const double before = cpuSeconds();
  double scan = 0;
  if (const auto scanned = scanSeconds(*opened.value(), false); scanned.has_value()) scan = *scanned;
  const double cpu = cpuSeconds();
  const long before_mb = peakMb();
  auto report = analyzeTrace(*opened.value());
  if (!report.has_value()) return printError(report.error());
  const double took = cpuSeconds() - cpu;
  fmt::print("{:>12} {:>9.2f} {:>8.0f} {:>6.1f} {:>9} {:>10.2f} {:>8}\n", events, took,
             took * 1e9 / static_cast<double>(events), took / std::max(scan, 1e-9), peakMb(),
             static_cast<double>(peakMb() - before_mb) * 1048576 / static_cast<double>(events),
             static_cast<long>((cpu - before) * 1000));
  return 0;
}

int growth(Make make, std::vector<std::int64_t> sizes) {
  if (sizes.empty()) sizes = {10'000'000, 30'000'000, 100'000'000};
  fmt::print("{:>12} {:>9} {:>8} {:>6} {:>9} {:>10} {:>8}\n", "events", "CPU s", "ns/event", "scans",
             "memory MB", "B/event", "scan ms");
  for (const std::int64_t events : sizes) {
    const std::string path = passingPath();
    int code = apart([&] {
      const auto status = make(path, events);
      return status.has_value() ? 0 : printError(status.error());
    });
    if (code == 0) code = apart([&] { return growOnce(events, path); });
    std::filesystem::remove(path);
    if (code != 0) return code;
  }
  return 0;
}

int analyzeBeside(const std::string& command, const std::string& path) {
  return apart([&] {
    if (std::freopen("/dev/null", "w", stdout) == nullptr) return 1;
    execl(command.c_str(), command.c_str(), "analyze", path.c_str(), static_cast<char*>(nullptr));
    return 1;
  });
}

int startUp() {
  constexpr int kRuns = 15;
  const auto command = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "pitwall";
  const std::string path = passingPath();
  if (auto status = bench::writeTraining(path, 100'000); !status.has_value())
    return printError(status.error());
  double least = 1e9, total = 0;
  rusage before{}, after{};
  for (int i = 0; i < kRuns; ++i) {
    getrusage(RUSAGE_CHILDREN, &before);
    const auto start = Clock::now();
    const int code = analyzeBeside(command.string(), path);
    const double took = secondsSince(start);
    getrusage(RUSAGE_CHILDREN, &after);
    if (code != 0)
      return fmt::print(stderr, "{} analyze {}: exit code {}\n", command.string(), path, code), 1;
    least = std::min(least, took);
    total += took;
  }
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) * 1e-3;
  };
  fmt::print(
      "pitwall analyze, 100,000 events, {} runs: {:.0f} ms elapsed at least, {:.0f} ms on average; "
      "{:.0f} ms of CPU\n",
      kRuns, least * 1e3, total * 1e3 / kRuns,
      ms(after.ru_utime) + ms(after.ru_stime) - ms(before.ru_utime) - ms(before.ru_stime));
  std::filesystem::remove(path);
  return 0;
}

constexpr char kUsage[] =
    "How long the analyses and rules take, beside one sequential scan of the same file.\n"
    "\n"
    "usage: analyze_bench [--alike] [EVENTS [FILE]]\n"
    "       analyze_bench [--alike] --growth [EVENTS...]\n"
    "       analyze_bench --start\n"
    "\n"
    "  EVENTS     of a made-up training trace; 10000000 without a number, 1000 at least\n"
    "  FILE       the trace, made if it does not exist, and kept; without a name it is in the folder for\n"
    "             temporary files, 7 bytes an event, and is removed\n"
    "  --growth   a line for each number of events (10, 30 and 100 million without any), each in its own\n"
    "             process: whether time and memory grow with them\n"
    "  --start    `pitwall analyze` beside this program on 100,000 events, elapsed time\n"
    "  --alike    the trace is one operator again and again, without marks of iterations\n"
    "  --help     this text\n";

int refuse(const std::string& reason) {
  fmt::print(stderr, "analyze_bench: {}; see --help for usage\n", reason);
  return 2;
}

std::optional<std::int64_t> eventsOf(const std::string& word) {
  std::int64_t events = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), events);
  if (error != std::errc() || end != word.data() + word.size() || events < 1000) return std::nullopt;
  return events;
}

}  // namespace

int main(int argc, char** argv) {
  Make make = bench::writeTraining;
  bool grows = false, starts = false;
  std::vector<std::string> words;
  for (const std::string word : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    if (word == "--help" || word == "-h") return fmt::print("{}", kUsage), 0;
    if (word == "--growth") {
      grows = true;
    } else if (word == "--start") {
      starts = true;
    } else if (word == "--alike") {
      make = bench::writeAlike;
    } else if (word.rfind('-', 0) == 0) {
      return refuse(fmt::format("no such option: '{}'", word));
    } else {
      words.push_back(word);
    }
  }
  if (starts) return words.empty() && !grows ? startUp() : refuse("--start goes with nothing else");
  std::vector<std::int64_t> sizes;
  for (const auto& word :
       std::span(words).first(grows ? words.size() : std::min<std::size_t>(words.size(), 1))) {
    const auto events = eventsOf(word);
    if (!events) return refuse(fmt::format("'{}' is not a number of events of at least 1000", word));
    sizes.push_back(*events);
  }
  if (grows) return growth(make, std::move(sizes));
  if (words.size() > 2) return refuse(fmt::format("one file at a time, not '{}' too", words[2]));
  return run(make, sizes.empty() ? 10'000'000 : sizes[0], words.size() > 1 ? words[1] : "");
}
