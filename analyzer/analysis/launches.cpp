// How device work is launched: how long after its launch it starts, how much is queued, how short it is.
#include <algorithm>

#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/statistics.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {
namespace {

constexpr TimeNs kShortNs = 10'000;  // the launch of a kernel costs about that much

struct Launches {
  std::vector<double> delays, kernels;
  std::vector<TimeNs> launched, ended;
  std::int64_t matched = 0, orphans = 0, short_count = 0, host_longer = 0;
  TimeNs short_ns = 0, kernel_ns = 0, call_ns = 0;
};

Launches collect(const DeviceTimes& device, const LaunchIndex& index) {
  Launches result;
  for (const auto* work : device.work) {
    const TimeNs length = work->end_ns - work->start_ns;
    if (work->work == WorkClass::computation) {
      result.kernels.push_back(static_cast<double>(length));
      result.kernel_ns += length;
      if (length < kShortNs) ++result.short_count, result.short_ns += length;
    }
    const auto* call = index.find(work->correlation);
    if (call == nullptr) {
      ++result.orphans;
      continue;
    }
    ++result.matched;
    result.call_ns += call->end_ns - call->start_ns;
    result.host_longer += call->end_ns - call->start_ns > length;
    result.delays.push_back(static_cast<double>(std::max<TimeNs>(0, work->start_ns - call->end_ns)));
    result.launched.push_back(call->start_ns);
    result.ended.push_back(work->end_ns);
  }
  return result;
}

// Pieces of work that are launched and not ended, seen by each launch.
SqlValue meanQueue(Launches& launches) {
  if (launches.launched.empty()) return {};
  for (auto* times : {&launches.launched, &launches.ended}) {
    if (!std::is_sorted(times->begin(), times->end())) std::sort(times->begin(), times->end());
  }
  std::size_t ended = 0;
  double sum = 0;
  for (std::size_t i = 0; i < launches.launched.size(); ++i) {
    while (ended < launches.ended.size() && launches.ended[ended] <= launches.launched[i]) ++ended;
    sum += static_cast<double>(i - std::min(i, ended));
  }
  return sum / static_cast<double>(launches.launched.size());
}

SqlValue ratio(double part, double whole) { return whole > 0 ? SqlValue(part / whole) : SqlValue(); }

}  // namespace

Status writeLaunches(Trace& trace, const Context& context) {
  TempTable table(
      "analysis_launch",
      "device TEXT, rank INTEGER, launches INTEGER, matched INTEGER, orphans INTEGER, delay_mean_ns INTEGER, "
      "delay_p50_ns INTEGER, delay_p99_ns INTEGER, queue_mean REAL, short_count INTEGER, "
      "short_share_of_work REAL, short_share_of_count REAL, kernel_p50_ns INTEGER, host_longer_count "
      "INTEGER, "
      "launch_call_ns INTEGER");
  for (const auto& device : context.devices.all) {
    auto l = collect(device, context.launches);
    constexpr double kQuantiles[] = {0.5, 0.99};
    const double mean_delay = mean(l.delays);
    const auto delays = quantilesOf(l.delays, kQuantiles);
    const auto delay = [&](double value) {
      return l.delays.empty() ? SqlValue() : SqlValue(static_cast<std::int64_t>(value));
    };
    const auto kernels = static_cast<double>(l.kernels.size());
    table.row({device.name, static_cast<std::int64_t>(device.rank), l.matched + l.orphans, l.matched,
               l.orphans, delay(mean_delay), delay(delays[0]), delay(delays[1]), meanQueue(l), l.short_count,
               ratio(static_cast<double>(l.short_ns), static_cast<double>(l.kernel_ns)),
               ratio(static_cast<double>(l.short_count), kernels),
               static_cast<std::int64_t>(quantile(std::move(l.kernels), 0.5)), l.host_longer, l.call_ns});
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
