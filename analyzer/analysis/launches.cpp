// How device work is launched: how long after its launch it starts, how much is queued, how short it is.
#include <algorithm>

#include "analyzer/analysis/samples.h"
#include "analyzer/analysis/slice_analysis.h"
#include "analyzer/analysis/sorted_times.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {
namespace {

constexpr TimeNs kShortNs = 10'000;  // the launch of a kernel costs about that much

// Of one device.
struct Sums {
  Samples delays, kernels;
  SortedTimes launched, ended;
  std::int64_t matched = 0, orphans = 0, short_count = 0, host_longer = 0;
  TimeNs short_ns = 0, call_ns = 0;

  void add(const DeviceWork& work, const HostCall* call) {
    const TimeNs length = work.end_ns - work.start_ns;
    if (work.work == WorkClass::computation && !work.sets_memory) {
      kernels.add(length);
      if (length < kShortNs) ++short_count, short_ns += length;
    }
    if (call == nullptr) {
      ++orphans;
      return;
    }
    ++matched;
    call_ns += call->end_ns - call->start_ns;
    host_longer += call->end_ns - call->start_ns > length;
    delays.add(std::max<TimeNs>(0, work.start_ns - call->end_ns));
    launched.add(call->start_ns);
    ended.add(work.end_ns);
  }
};

// Pieces of work that are launched and not ended, seen by each launch.
SqlValue meanQueue(const Sums& sums) {
  if (sums.launched.count() == 0) return {};
  SortedTimes::Cursor launches(sums.launched), ends(sums.ended);
  TimeNs launched = 0, end = 0;
  bool more = ends.next(end);
  std::int64_t before = 0, ended = 0;
  double sum = 0;
  while (launches.next(launched)) {
    for (; more && end <= launched; more = ends.next(end)) ++ended;
    sum += static_cast<double>(before - std::min(before, ended));
    ++before;
  }
  return sum / static_cast<double>(sums.launched.count());
}

SqlValue ratio(double part, double whole) { return whole > 0 ? SqlValue(part / whole) : SqlValue(); }

class Launches final : public SliceAnalysis {
 public:
  explicit Launches(std::size_t devices) : devices_(devices) {}

  void add(const SliceView& now) override {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      for (const auto* work : now.devices[d].work)
        devices_[d].add(*work, now.launches.find(work->correlation));
      devices_[d].launched.endRun();
      devices_[d].ended.endRun();
    }
  }

  Status write(Trace& trace, const Context& context) override {
    TempTable table(
        "analysis_launch",
        "device TEXT, rank INTEGER, launches INTEGER, matched INTEGER, orphans INTEGER, delay_mean_ns "
        "INTEGER, delay_p50_ns INTEGER, delay_p99_ns INTEGER, queue_mean REAL, short_count INTEGER, "
        "short_share_of_work REAL, short_share_of_count REAL, kernel_p50_ns INTEGER, host_longer_count "
        "INTEGER, launch_call_ns INTEGER");
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      const auto& device = context.devices.all[d];
      const auto& l = devices_[d];
      constexpr double kQuantiles[] = {0.5, 0.99};
      const auto delays = l.delays.quantiles(kQuantiles);
      const auto delay = [&](double value) {
        return l.delays.empty() ? SqlValue() : SqlValue(static_cast<std::int64_t>(value));
      };
      table.row({device.name, static_cast<std::int64_t>(device.rank), l.matched + l.orphans, l.matched,
                 l.orphans, delay(l.delays.mean()), delay(delays[0]), delay(delays[1]), meanQueue(l),
                 l.short_count, ratio(static_cast<double>(l.short_ns), static_cast<double>(l.kernels.sum())),
                 ratio(static_cast<double>(l.short_count), static_cast<double>(l.kernels.count())),
                 static_cast<std::int64_t>(l.kernels.quantile(0.5)), l.host_longer, l.call_ns});
    }
    return table.write(trace);
  }

 private:
  std::vector<Sums> devices_;
};

}  // namespace

std::unique_ptr<SliceAnalysis> analyzeLaunches(std::size_t devices) {
  return std::make_unique<Launches>(devices);
}

}  // namespace pitwall::analysis
