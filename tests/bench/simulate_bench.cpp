// How long a simulation takes: reading a trace's graph once, then predictions from it. Times are CPU time of one thread.
//
// Options: see kUsage below.
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/simulate.h"
#include "db/meta.h"
#include "db/reader.h"
#include "db/store.h"
#include "tests/bench/must.h"

namespace {

using namespace pitwall;

constexpr char kUsage[] =
    "usage: simulate_bench [--events=N] [--predictions=N] [--engine]\n"
    "  --events=N       of the made trace (default 1000000)\n"
    "  --predictions=N  different changes, from one graph (default 100)\n"
    "  --engine         operators of an engine instead of a host with a device\n";

double cpuSeconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

long peakMb() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return use.ru_maxrss / 1024;
}

// Iterations of a host thread whose 30 operators launch a kernel each, and which waits for the device at the end.
void writeLaunches(const std::string& path, std::int64_t events) {
  constexpr int kOperators = 30, kEvents = 3 * kOperators + 1;
  const auto sink = must(createTrace(path));
  const auto process = sink->process({.pid = 1, .name = "bench", .command_line = "bench"});
  const auto device = sink->device({"gpu", 0, "bench", 1 << 30});
  const auto host =
      sink->track({TrackKind::thread, process, sink->thread({process, 1, "main"}), {}, "main", ""});
  const auto stream = sink->track({TrackKind::stream, process, {}, device, "stream 1", ""});
  const auto launch = sink->string("cudaLaunchKernel"), wait = sink->string("cudaStreamSynchronize");
  std::vector<StringId> operators, kernels;
  for (int i = 0; i < kOperators; ++i) {
    operators.push_back(sink->string(fmt::format("aten::op{}", i)));
    kernels.push_back(sink->string(fmt::format("sm90_xmma_gemm_{}", i)));
  }
  std::vector<Event> of_host, of_device;
  std::vector<Dependency> dependencies;
  CorrelationId correlation = 0;
  TimeNs now = 0, device_ns = 0;
  for (std::int64_t i = 0; i < events / kEvents; ++i) {
    sink->iteration({i, now, 64});
    for (std::size_t k = 0; k < kOperators; ++k, now += 10000) {
      const auto add = [&](std::vector<Event>& list, TimeNs start, TimeNs dur, StringId name,
                           EventKind kind) {
        list.push_back({.start_ns = start,
                        .dur_ns = dur,
                        .pushed_ns = start,
                        .ready_ns = start,
                        .name = name,
                        .kind = kind});
      };
      add(of_host, now, 9000, operators[k], EventKind::operatorRun);
      add(of_host, now + 2000, 4000, launch, EventKind::api);
      of_host.back().correlation = ++correlation;
      device_ns = std::max(device_ns + 1000, now + 6000);
      const TimeNs length = 7000 + static_cast<TimeNs>((i * 31 + static_cast<std::int64_t>(k) * 17) % 3000);
      add(of_device, device_ns, length, kernels[k], EventKind::kernel);
      of_device.back().correlation = ++correlation;
      device_ns += length;
      dependencies.push_back({correlation - 1, correlation, DependencyKind::launch});
    }
    of_host.push_back({.start_ns = now,
                       .dur_ns = std::max<TimeNs>(1000, device_ns + 2000 - now),
                       .pushed_ns = now,
                       .ready_ns = now,
                       .name = wait,
                       .kind = EventKind::api});
    now += of_host.back().dur_ns + 5000;
    if (of_host.size() < 40000) continue;
    sink->events(host, of_host), sink->events(stream, of_device), sink->dependencies(dependencies);
    of_host.clear(), of_device.clear(), dependencies.clear();
  }
  sink->events(host, of_host), sink->events(stream, of_device), sink->dependencies(dependencies);
  must(sink->finish());
}

// Iterations of 40 operators, each of which uses the result of the one before, on two workers; the thread that pushes
// them waits at the end.
void writeEngine(const std::string& path, std::int64_t events) {
  constexpr std::size_t kOperators = 40;
  const auto sink = must(createTrace(path));
  const auto process = sink->process({.pid = 1, .name = "bench", .command_line = "bench"});
  const auto host =
      sink->track({TrackKind::thread, process, sink->thread({process, 1, "main"}), {}, "main", ""});
  TrackId workers[2];
  for (int i = 0; i < 2; ++i) {
    const auto name = fmt::format("cpu worker {}", i);
    workers[i] =
        sink->track({TrackKind::thread, process, sink->thread({process, 2 + i, name}), {}, name, ""});
  }
  std::vector<OperatorId> operators;
  for (std::size_t i = 0; i < kOperators; ++i) {
    OperatorFacts facts;
    facts.name = "Convolution";
    facts.layer = fmt::format("conv{}", i);
    operators.push_back(sink->operatorFacts(facts));
  }
  std::vector<Event> of_worker[2], of_host;
  std::vector<Dependency> dependencies;
  CorrelationId correlation = 0;
  TimeNs now = 0;
  const auto send = [&] {
    for (int i = 0; i < 2; ++i) sink->events(workers[i], of_worker[i]), of_worker[i].clear();
    sink->events(host, of_host), sink->dependencies(dependencies);
    of_host.clear(), dependencies.clear();
  };
  for (std::int64_t i = 0; i < events / static_cast<std::int64_t>(kOperators); ++i) {
    sink->iteration({i, now, 64});
    const TimeNs begin = now + 60000;
    for (std::size_t k = 0; k < kOperators; ++k) {
      const TimeNs pushed = now + static_cast<TimeNs>(k) * 1000,
                   start = begin + static_cast<TimeNs>(k) * 9000;
      of_worker[k % 2].push_back({.start_ns = start,
                                  .dur_ns = 8000 + (i * 31 + static_cast<TimeNs>(k) * 17) % 900,
                                  .pushed_ns = pushed,
                                  .ready_ns = start - 500,
                                  .correlation = ++correlation,
                                  .op = operators[k],
                                  .kind = EventKind::operatorRun});
      if (k > 0) dependencies.push_back({correlation - 1, correlation});
    }
    const TimeNs end = begin + static_cast<TimeNs>(kOperators) * 9000;
    of_host.push_back({.start_ns = now + 50000, .dur_ns = end - now - 50000, .kind = EventKind::wait});
    now = end + 5000;
    if (of_host.size() >= 1000) send();
  }
  send();
  must(sink->finish());
}

struct Options {
  std::int64_t events = 1'000'000, predictions = 100;
  bool engine = false;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    const auto number = [&](std::string_view prefix, std::int64_t& value) {
      if (!text.starts_with(prefix)) return false;
      const char* const end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data() + prefix.size(), end, value);
      return error == std::errc() && stop == end && value > 0;
    };
    if (text == "--engine") {
      options.engine = true;
    } else if (!number("--events=", options.events) && !number("--predictions=", options.predictions)) {
      return false;
    }
  }
  return true;
}

void run(const Options& options, const std::string& path) {
  if (options.engine) {
    writeEngine(path, options.events);
  } else {
    writeLaunches(path, options.events);
  }
  const auto trace = must(Trace::open(path));
  double start = cpuSeconds();
  const auto simulator =
      must(Simulator::open(*trace, {.most_events = static_cast<std::size_t>(options.events)}));
  const auto& check = simulator.check();
  fmt::print("open      {:8.3f} s  {} events of {} iterations; the unchanged replay is {:+.2f} % off{}\n",
             cpuSeconds() - start, check.events, check.iterations, 100 * check.error,
             check.predictable ? "" : ": " + check.why);
  start = cpuSeconds();
  for (std::int64_t i = 0; i < options.predictions; ++i) {
    const std::vector<std::string> changes{fmt::format("op:{}{}={}", options.engine ? "conv" : "gemm_",
                                                       i % 30, 0.5 + 0.01 * static_cast<double>(i % 90))};
    must(simulator.predict(changes));
  }
  const double seconds = cpuSeconds() - start;
  fmt::print("predict   {:8.3f} s  {} predictions, {:.1f} ms each\n", seconds, options.predictions,
             1e3 * seconds / static_cast<double>(options.predictions));
  fmt::print("memory    {:8} MB at most\n", peakMb());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (argc == 2 && std::string_view(argv[1]) == "--help") return std::fputs(kUsage, stdout), 0;
  if (!parse(argc, argv, options)) return std::fputs(kUsage, stderr), 2;
  const auto path =
      (std::filesystem::temp_directory_path() / fmt::format("simulate_bench_{}.pitwall", getpid())).string();
  run(options, path);
  std::filesystem::remove(path);
}
