#include "analyzer/analysis/operators.h"

#include <algorithm>
#include <cstdlib>

#include "analyzer/analysis/statistics.h"
#include "db/meta.h"

namespace pitwall::analysis {
namespace {

struct Samples {
  std::vector<double> durations;
  TimeNs total_ns = 0;
  TimeNs queued_ns = 0;
};

// Both are ordered by start, so one walk over both assigns operators to iterations.
std::vector<Samples> collect(const Timeline& timeline, std::span<const Iteration> iterations,
                             std::size_t fact_count) {
  const bool any_steady = std::any_of(iterations.begin(), iterations.end(), [](const Iteration& iteration) {
    return iteration.role == IterationRole::steady;
  });
  std::vector<Samples> samples(fact_count + 1);  // 0: operators without facts
  std::size_t i = 0;
  for (const auto& op : timeline.operators) {
    while (i < iterations.size() && iterations[i].end_ns <= op.start_ns) ++i;
    if (i == iterations.size()) break;
    if (op.start_ns < iterations[i].start_ns) continue;
    if (any_steady && iterations[i].role != IterationRole::steady) continue;
    auto& sample = samples[op.op.value <= fact_count ? op.op.value : 0];
    const TimeNs duration = op.end_ns - op.start_ns;
    sample.durations.push_back(static_cast<double>(duration));
    sample.total_ns += duration;
    sample.queued_ns += op.start_ns - op.pushed_ns;
  }
  return samples;
}

std::string titleOf(const OperatorRow& row) {
  constexpr std::string_view kBackward = "_backward_";
  std::string name = row.name;
  if (name.rfind(kBackward, 0) == 0) name.erase(0, kBackward.size());
  return row.layer.empty() ? name : row.layer + " " + name;
}

OperatorStatistics summarize(Samples& samples, OperatorId op, const OperatorFacts* facts) {
  OperatorStatistics statistics;
  auto& row = statistics.row;
  statistics.op = op;
  row.name = facts != nullptr ? facts->name : "operator";
  if (facts != nullptr) {
    row.layer = facts->layer;
    row.phase = toString(facts->phase);
    row.shapes = facts->shapes;
    statistics.flop = facts->flop;
    statistics.bytes_read = facts->bytes_read;
    statistics.bytes_written = facts->bytes_written;
    statistics.dtype = facts->dtype;
    statistics.backend = facts->backend;
    statistics.implementation = facts->implementation;
  }
  row.title = titleOf(row);
  row.count = static_cast<std::int64_t>(samples.durations.size());
  row.total_ns = samples.total_ns;
  row.mean_ns = samples.total_ns / row.count;
  constexpr double kQuantiles[] = {0, 0.1, 0.5, 0.9, 0.99};
  const auto at = quantilesOf(samples.durations, kQuantiles);
  statistics.min_ns = static_cast<TimeNs>(at[0]);
  statistics.p10_ns = static_cast<TimeNs>(at[1]);
  row.p50_ns = static_cast<TimeNs>(at[2]);
  statistics.p90_ns = static_cast<TimeNs>(at[3]);
  row.p99_ns = static_cast<TimeNs>(at[4]);
  statistics.queued_mean_ns = samples.queued_ns / row.count;
  if (row.total_ns > 0) {
    const double seconds = static_cast<double>(row.total_ns) * 1e-9;
    const auto count = static_cast<double>(row.count);
    row.flop_per_second = static_cast<double>(statistics.flop) * count / seconds;
    row.bytes_per_second =
        static_cast<double>(statistics.bytes_read + statistics.bytes_written) * count / seconds;
  }
  return statistics;
}

}  // namespace

OperatorTable tabulateOperators(const Timeline& timeline, std::span<const Iteration> iterations,
                                std::span<const OperatorFacts> facts) {
  OperatorTable table;
  auto samples = collect(timeline, iterations, facts.size());
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    if (samples[i].durations.empty()) continue;
    table.rows.push_back(summarize(samples[i], OperatorId{i}, i == 0 ? nullptr : &facts[i - 1]));
    table.total_ns += samples[i].total_ns;
  }
  for (auto& statistics : table.rows) {
    if (table.total_ns == 0) break;
    statistics.row.share = static_cast<double>(statistics.row.total_ns) / static_cast<double>(table.total_ns);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const auto& a, const auto& b) { return a.row.total_ns > b.row.total_ns; });
  return table;
}

Roof roofOf(const Trace& trace) {
  const auto number = [&trace](const char* key) {
    return std::max(0.0, std::strtod(trace.meta(key).value_or("0").c_str(), nullptr));
  };
  Roof roof{number(meta::kRoofFlop), std::max(number(meta::kRoofCopy), number(meta::kRoofTriad))};
  const double usable = number(meta::kUsableCpus) * number(meta::kRoofFlopOne);
  if (usable > 0) roof.flop_per_second = std::min(roof.flop_per_second, usable);
  return roof;
}

void compareWithRoof(const Roof& roof, OperatorTable& table) {
  for (auto& statistics : table.rows) {
    if (statistics.backend.rfind("cu", 0) == 0) continue;  // cuda, cudnn, cublas
    auto& row = statistics.row;
    if (roof.flop_per_second > 0) row.roof_share = row.flop_per_second / roof.flop_per_second;
    if (roof.bytes_per_second > 0)
      row.roof_share = std::max(row.roof_share, row.bytes_per_second / roof.bytes_per_second);
  }
}

}  // namespace pitwall::analysis
