#include "runtime/backend/support/operator_tuning.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <limits>
#include <thread>
#include <utility>

namespace pitwall {
namespace {

using Clock = std::chrono::steady_clock;

double nanosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// The median of regions with work of one thread between them, as between operators: idle threads may fall asleep. On a thread of its
// own, whose team ends with it.
double measuredTeamNs(int threads) {
  constexpr std::chrono::microseconds kBetween(40);
  std::array<double, 15> times{};
  std::thread([&] {
    for (double& time : times) {
      for (const auto start = Clock::now(); Clock::now() - start < kBetween;) {
      }
      int started = 0;
      const auto start = Clock::now();
#pragma omp parallel num_threads(threads) reduction(+ : started)
      started += 1;
      time = started > 0 ? nanosecondsSince(start) : 0;
    }
  }).join();
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

}  // namespace

std::int64_t parallelFrom(double team_ns, double element_ns, int threads) {
  if (threads < 2 || element_ns <= 0) return std::numeric_limits<std::int64_t>::max();
  const double from = team_ns / (element_ns * (1 - 1.0 / threads));
  return from < 1e15 ? static_cast<std::int64_t>(from) + 1 : std::numeric_limits<std::int64_t>::max();
}

OperatorTuning::OperatorTuning(OperatorTuningOptions options)
    : options_(std::move(options)),
      threads_(options_.cores > 0 ? std::min(options_.cores, omp_get_max_threads()) : omp_get_max_threads()) {
}

double OperatorTuning::teamNs() {
  if (team_ns_ >= 0) return team_ns_;
  if (threads_ < 2) {
    team_ns_ = 0;
  } else {
    team_ns_ = options_.team_ns ? options_.team_ns(threads_) : measuredTeamNs(threads_);
  }
  if (options_.prints_measurements)
    fmt::print(stderr, "operator tuning: starting {} threads takes {:.0f} ns\n", threads_, team_ns_);
  return team_ns_;
}

std::int64_t OperatorTuning::parallelFrom(const std::string& name,
                                          const std::function<double()>& element_ns) {
  const ScopedLock guard(mutex_);
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  const double element = element_ns();
  if (element <= 0) return known_[name] = 0;
  const std::int64_t from =
      pitwall::parallelFrom(teamNs(), element * (options_.scale != 0 ? options_.scale : 1), threads_);
  if (options_.prints_measurements)
    fmt::print(stderr, "operator tuning: {} takes {:.3f} ns an element\n", name, element);
  if (options_.prints_decisions) {
    if (threads_ < 2)
      fmt::print(stderr, "operator tuning: {} runs on one thread\n", name);
    else
      fmt::print(stderr, "operator tuning: {} runs on {} threads from {} elements on\n", name, threads_,
                 from);
  }
  known_.emplace(name, from);
  return from;
}

}  // namespace pitwall
