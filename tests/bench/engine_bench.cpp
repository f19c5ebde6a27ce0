// The engine's overhead per operator, with empty operators. Prints Google Benchmark's lines and then one
// table: median, target, MXNet 1.9.1 measured on a similar machine, and the ratio to an uncontended
// std::mutex lock + unlock pair of the same run, which is comparable between machines.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "db/check.h"
#include "runtime/engine.h"

namespace pitwall {
namespace {

constexpr int kOperators = 10'000;  // per timed turn, then a wait for all
constexpr int kRoundTrips = 1'000;
constexpr int kIndependent = 64;
constexpr const char* kMutexName = "std::mutex lock + unlock";

struct Row {
  const char* name;
  void (*run)(benchmark::State& state);
  int operators;     // per turn
  double target_ns;  // 0 = none set
  double mxnet_ns;   // 0 = not measured
};

Status nothing(const RunContext&) { return {}; }

struct Fixture {
  explicit Fixture(EngineType type, int workers = 1, int variables = 1) {
    auto opened = Engine::open({.type = type, .cpu_workers = workers}, profiler);
    PITWALL_CHECK(opened.has_value(), "%s", opened.error().message.c_str());
    engine = std::move(opened.value());
    for (int i = 0; i < variables; ++i) written.push_back(engine->newVariable());
  }
  void pushAll() {
    std::size_t next = 0;
    for (int i = 0; i < kOperators; ++i) {
      engine->push({.run = nothing, .writes = {&written[next], 1}});
      next = next + 1 == written.size() ? 0 : next + 1;
    }
    const Status done = engine->waitForAll();
    PITWALL_CHECK(done.has_value(), "an empty operator failed");
  }
  void time(benchmark::State& state) {
    pushAll();  // warm up: threads, memory
    for (auto turn : state) pushAll();
  }

  Profiler profiler;
  std::unique_ptr<Engine> engine;
  std::vector<Variable> written;
};

void mutexPair(benchmark::State& state) {
  std::mutex mutex;
  for (auto turn : state) {
    for (int i = 0; i < kOperators; ++i) {
      mutex.lock();
      benchmark::ClobberMemory();
      mutex.unlock();
    }
  }
}

void naive(benchmark::State& state) { Fixture(EngineType::naive).time(state); }
void chain1(benchmark::State& state) { Fixture(EngineType::threadedPerDevice, 1).time(state); }
void independent1(benchmark::State& state) {
  Fixture(EngineType::threadedPerDevice, 1, kIndependent).time(state);
}
void independent4(benchmark::State& state) {
  Fixture(EngineType::threadedPerDevice, 4, kIndependent).time(state);
}
void pooledChain(benchmark::State& state) { Fixture(EngineType::threaded).time(state); }
void pooledIndependent(benchmark::State& state) {
  Fixture(EngineType::threaded, 1, kIndependent).time(state);
}
void bulk15(benchmark::State& state) {
  Fixture fixture(EngineType::threadedPerDevice, 1);
  const BulkScope bulk(*fixture.engine, 15);
  fixture.time(state);
}
void roundTrip(benchmark::State& state) {
  Fixture fixture(EngineType::threadedPerDevice, 1);
  const Variable variable = fixture.written[0];
  for (auto turn : state) {
    for (int i = 0; i < kRoundTrips; ++i) {
      fixture.engine->push({.run = nothing, .writes = {&variable, 1}});
      const Status done = fixture.engine->waitForVariable(variable);
      PITWALL_CHECK(done.has_value(), "an empty operator failed");
    }
  }
}

constexpr std::array kRows = {
    Row{kMutexName, mutexPair, kOperators, 0, 0},
    Row{"NaiveEngine push", naive, kOperators, 60, 926},
    Row{"per-device, 1 worker, chain on one variable", chain1, kOperators, 250, 1357},
    Row{"per-device, 1 worker, 64 independent variables", independent1, kOperators, 250, 1395},
    Row{"per-device, 4 workers, 64 independent variables", independent4, kOperators, 600, 4355},
    Row{"pooled ThreadedEngine, chain on one variable", pooledChain, kOperators, 0, 3643},
    Row{"pooled ThreadedEngine, 64 independent variables", pooledIndependent, kOperators, 800, 7831},
    Row{"bulk of 15", bulk15, kOperators, 60, 439},
    Row{"push + waitForVariable round trip", roundTrip, kRoundTrips, 5000, 18600},
};

// Google Benchmark's own lines, and the medians for our table.
class TableReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.aggregate_name == "median") medians_[run.run_name.function_name] = run.GetAdjustedRealTime();
    }
  }
  void Finalize() override {
    fmt::print("\n{:<50}{:>10}{:>10}{:>10}{:>14}\n", "empty operators, ns per operator (median)", "Pitwall",
               "target", "MXNet", "x mutex pair");
    const double mutex_ns = median(kRows[0]);
    for (const Row& row : kRows) {
      const double ns = median(row);
      if (ns == 0) continue;
      fmt::print("{:<50}{:>10.1f}{:>10}{:>10}{:>14}\n", row.name, ns, orDash(row.target_ns),
                 orDash(row.mxnet_ns), mutex_ns == 0 ? "-" : fmt::format("{:.1f}", ns / mutex_ns));
    }
  }

 private:
  double median(const Row& row) const {
    const auto found = medians_.find(row.name);
    return found == medians_.end() ? 0 : found->second / row.operators;
  }
  static std::string orDash(double value) { return value == 0 ? "-" : fmt::format("{:.0f}", value); }

  std::map<std::string, double> medians_;  // ns per turn
};

}  // namespace
}  // namespace pitwall

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  for (const auto& row : pitwall::kRows) {
    benchmark::RegisterBenchmark(row.name, row.run)
        ->UseRealTime()
        ->Repetitions(15)
        ->MinTime(0.05)
        ->ReportAggregatesOnly(true);
  }
  pitwall::TableReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
}
