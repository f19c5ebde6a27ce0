#include "analyzer/analysis/operators.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "analyzer/analysis/store_operators.h"
#include "db/meta.h"

namespace pitwall::analysis {
namespace {

std::string titleOf(const OperatorRow& row) {
  constexpr std::string_view kBackward = "_backward_";
  std::string name = row.name;
  if (name.rfind(kBackward, 0) == 0) name.erase(0, kBackward.size());
  return row.layer.empty() ? name : row.layer + " " + name;
}

// By the backend's name: cuda, cudnn, cublas.
bool runsOnGpu(std::string_view backend) { return backend.rfind("cu", 0) == 0; }

// Where operators launch device work, the time of the call that launches it says nothing of their rates: they are of
// the device's time, and unknown of what launches nothing itself and is not known to be computed by the host.
void setRates(bool any_device, OperatorStatistics& statistics) {
  auto& row = statistics.row;
  const bool of_host = !statistics.backend.empty() && !runsOnGpu(statistics.backend);
  const TimeNs time_ns = row.device_ns > 0                                            ? row.device_ns
                         : of_host || (!any_device && !runsOnGpu(statistics.backend)) ? row.total_ns
                                                                                      : 0;
  if (time_ns <= 0) return;
  const double seconds = static_cast<double>(time_ns) * 1e-9;
  const auto count = static_cast<double>(row.count);
  row.flop_per_second = static_cast<double>(statistics.flop) * count / seconds;
  row.bytes_per_second =
      static_cast<double>(statistics.bytes_read + statistics.bytes_written) * count / seconds;
}

}  // namespace

OperatorSums::OperatorSums(std::span<const Iteration> iterations, std::size_t fact_count,
                           std::vector<bool> others, HostThreads host)
    : iterations_(iterations),
      sums_(fact_count + 1),
      nesting_(fact_count, std::move(others), std::move(host)),
      executions_(iterations.size(), 0) {
  any_steady_ = std::any_of(iterations.begin(), iterations.end(), [](const Iteration& iteration) {
    return iteration.role == IterationRole::steady;
  });
}

// Both are ordered by start, so one pass over both assigns operators to iterations.
void OperatorSums::add(std::span<const OperatorInterval> operators) {
  for (const auto& op : operators) {
    while (at_ < iterations_.size() && iterations_[at_].end_ns <= op.start_ns) ++at_;
    const bool within = at_ < iterations_.size() && op.start_ns >= iterations_[at_].start_ns;
    const bool counts = within && (!any_steady_ || iterations_[at_].role == IterationRole::steady);
    nesting_.add(op, counts);
    if (within) ++executions_[at_];
    if (!counts) continue;
    auto& sum = sums_[op.op.value < sums_.size() ? op.op.value : 0];
    sum.durations.add(op.end_ns - op.start_ns);
    sum.queued_ns += op.start_ns - op.pushed_ns;
  }
}

bool OperatorSums::counts(TimeNs at) const {
  const auto after =
      std::partition_point(iterations_.begin(), iterations_.end(),
                           [at](const Iteration& iteration) { return iteration.end_ns <= at; });
  return after != iterations_.end() && at >= after->start_ns &&
         (!any_steady_ || after->role == IterationRole::steady);
}

OperatorStatistics OperatorSums::summarize(OperatorId op, const OperatorFacts* facts) const {
  const Sum& sum = sums_[op.value];
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
  row.count = sum.durations.count();
  row.total_ns = sum.durations.sum();
  row.self_ns = nesting_.of(op.value).self_ns;
  row.device_ns = nesting_.of(op.value).device_ns;
  row.mean_ns = row.total_ns / row.count;
  constexpr double kQuantiles[] = {0, 0.1, 0.5, 0.9, 0.99};
  const auto at = sum.durations.quantiles(kQuantiles);
  statistics.min_ns = static_cast<TimeNs>(at[0]);
  statistics.p10_ns = static_cast<TimeNs>(at[1]);
  row.p50_ns = static_cast<TimeNs>(at[2]);
  statistics.p90_ns = static_cast<TimeNs>(at[3]);
  row.p99_ns = static_cast<TimeNs>(at[4]);
  statistics.queued_mean_ns = sum.queued_ns / row.count;
  return statistics;
}

OperatorTable OperatorSums::table(std::span<const OperatorFacts> facts) const {
  OperatorTable table;
  for (std::uint32_t i = 0; i < sums_.size(); ++i) {
    if (sums_[i].durations.empty()) continue;
    if (i > 0 && isStoreExchange(facts[i - 1].name)) {
      table.exchanges += sums_[i].durations.count();
      table.exchange_ns += sums_[i].durations.sum();
      continue;
    }
    table.rows.push_back(summarize(OperatorId{i}, i == 0 ? nullptr : &facts[i - 1]));
    table.total_ns += table.rows.back().row.self_ns;
  }
  table.device_outside_ns = nesting_.deviceOutside();
  for (auto& statistics : table.rows) {
    if (table.total_ns == 0) break;
    statistics.row.share = static_cast<double>(statistics.row.self_ns) / static_cast<double>(table.total_ns);
  }
  const bool any_device = std::any_of(table.rows.begin(), table.rows.end(),
                                      [](const auto& statistics) { return statistics.row.device_ns > 0; });
  table.order = any_device ? OperatorOrder::deviceTime : OperatorOrder::selfTime;
  for (auto& statistics : table.rows) setRates(any_device, statistics);
  const auto rank = [order = table.order](const OperatorRow& row) {
    return std::pair(row.orderedBy(order), row.self_ns);
  };
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [&rank](const auto& a, const auto& b) { return rank(a.row) > rank(b.row); });
  return table;
}

void compareWithRoofline(const MachineRoofline& roofline, OperatorTable& table) {
  for (auto& statistics : table.rows) {
    if (statistics.row.device_ns > 0 || runsOnGpu(statistics.backend)) continue;
    auto& row = statistics.row;
    if (roofline.flop_per_second > 0) row.roofline_share = row.flop_per_second / roofline.flop_per_second;
    if (roofline.bytes_per_second > 0)
      row.roofline_share = std::max(row.roofline_share, row.bytes_per_second / roofline.bytes_per_second);
  }
}

}  // namespace pitwall::analysis
