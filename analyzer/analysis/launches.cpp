// How device work is launched: how long after its launch it starts, how much is queued, how short it is.
#include <algorithm>
#include <limits>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/id_set.h"
#include "analyzer/analysis/samples.h"
#include "analyzer/analysis/sorted_times.h"
#include "analyzer/analysis/temp_table.h"
#include "analyzer/analysis/time_chunk_analysis.h"

namespace pitwall::analysis {

constexpr Column kLaunchColumns[] = {
    {"device", kText, "", "'gpu 0'"},
    {"rank", kInteger, "number", "rank of the process that the device works for, from 0"},
    {"launches", kInteger, "count", "calls that launched one kernel or collective"},
    {"graph_launches", kInteger, "count", "calls that launched a graph"},
    {"graph_kernels", kInteger, "count", "kernels and collectives of these graphs"},
    {"matched", kInteger, "count", "kernels and collectives whose call is known"},
    {"orphans", kInteger, "count", "kernels and collectives whose call is not in the trace"},
    {"delay_mean_ns", kInteger, "ns",
     "end of the call until its first work starts: mean; null = no call is known"},
    {"delay_p50_ns", kInteger, "ns", "median of that delay; null = no call is known"},
    {"delay_p99_ns", kInteger, "ns", "delay that 99 % do not exceed; null = no call is known"},
    {"start_least_ns", kInteger, "ns",
     "start of a call until its first work starts: least; negative where the clocks of host and device "
     "differ; null = "
     "no call is known"},
    {"early_count", kInteger, "count", "calls whose first work starts before them, which cannot be"},
    {"queue_mean", kReal, "count",
     "launches whose first work has not ended, seen by each launch: mean; null = no call is known"},
    {"short_count", kInteger, "count", "kernels, without memsets, below 10 us"},
    {"short_share_of_work", kReal, "0..1", "their share of the time of kernels; null = no kernels"},
    {"short_share_of_count", kReal, "0..1", "their share of the number of kernels; null = no kernels"},
    {"kernel_p50_ns", kInteger, "ns", "median duration of a kernel"},
    {"host_longer_count", kInteger, "count", "calls that take longer than their kernel"},
    {"launch_call_ns", kInteger, "ns", "time of the calls that launched one kernel or collective"},
    {"graph_call_ns", kInteger, "ns", "time of the calls that launched a graph"},
    {"short_wait_ns", kInteger, "ns", "host wait in gaps below 1 ms"},
    {"launching_ns", kInteger, "ns", "part of short_wait_ns within calls that launch single kernels"},
};
constexpr TableDeclaration kLaunchTable{
    "analysis_launch",
    "A device and rank: how its kernels and collectives are launched, in its window. Copies and memsets have "
    "their own calls and do not count.",
    kLaunchColumns};

namespace {

constexpr TimeNs kShortNs = 10'000;  // the launch of a kernel costs about that much

// Of one device. Kernels and collectives are launched; copies and memsets have their own calls.
struct Sums {
  Samples delays, kernels;
  SortedTimes launched, ended;  // of each call, and of the first work that it launched
  IdSet calls;
  std::int64_t launches = 0, graph_launches = 0, graph_kernels = 0, matched = 0, orphans = 0, short_count = 0,
               host_longer = 0, early = 0;
  TimeNs start_least_ns = std::numeric_limits<TimeNs>::max();
  TimeNs short_ns = 0, call_ns = 0, graph_call_ns = 0;

  void add(const DeviceWork& work, const HostCall* call, bool is_graph) {
    const TimeNs length = work.end_ns - work.start_ns;
    if (work.work == WorkClass::copy || work.sets_memory) return;
    if (work.work == WorkClass::computation) {
      kernels.add(length);
      if (length < kShortNs) ++short_count, short_ns += length;
    }
    if (call == nullptr) {
      ++orphans;
      return;
    }
    ++matched;
    graph_kernels += is_graph;
    // A graph's kernels are all launched by one call, and wait for each other, not for the host.
    if (!calls.insert(call->correlation)) return;
    addCall(*call, work, is_graph);
  }

 private:
  void addCall(const HostCall& call, const DeviceWork& first, bool is_graph) {
    const TimeNs length = call.end_ns - call.start_ns;
    if (is_graph) {
      ++graph_launches;
      graph_call_ns += length;
    } else {
      ++launches;
      call_ns += length;
      host_longer += length > first.end_ns - first.start_ns;
    }
    start_least_ns = std::min(start_least_ns, first.start_ns - call.start_ns);
    early += first.start_ns < call.start_ns;
    delays.add(std::max<TimeNs>(0, first.start_ns - call.end_ns));
    launched.add(call.start_ns);
    ended.add(first.end_ns);
  }
};

// Launches whose first work has not ended, seen by each launch.
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

class Launches final : public TimeChunkAnalysis {
 public:
  Launches(const Trace& trace, std::size_t devices) : trace_(trace), devices_(devices) {}

  void add(const TimeChunkView& now) override {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      for (const auto* work : now.devices[d].work) {
        const auto* call = now.launches.find(work->correlation);
        devices_[d].add(*work, call, call != nullptr && isGraph(call->name));
      }
      devices_[d].launched.endRun();
      devices_[d].ended.endRun();
    }
  }

  Status write(Trace& trace, const Context& context) override {
    TempTable table(kLaunchTable);
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      const auto& device = context.devices.all[d];
      const auto& l = devices_[d];
      constexpr double kQuantiles[] = {0.5, 0.99};
      const auto delays = l.delays.quantiles(kQuantiles);
      const auto delay = [&](double value) {
        return l.delays.empty() ? SqlValue() : SqlValue(static_cast<std::int64_t>(value));
      };
      table.row({device.name,
                 static_cast<std::int64_t>(device.rank),
                 l.launches,
                 l.graph_launches,
                 l.graph_kernels,
                 l.matched,
                 l.orphans,
                 delay(l.delays.mean()),
                 delay(delays[0]),
                 delay(delays[1]),
                 l.delays.empty() ? SqlValue() : SqlValue(l.start_least_ns),
                 l.early,
                 meanQueue(l),
                 l.short_count,
                 ratio(static_cast<double>(l.short_ns), static_cast<double>(l.kernels.sum())),
                 ratio(static_cast<double>(l.short_count), static_cast<double>(l.kernels.count())),
                 static_cast<std::int64_t>(l.kernels.quantile(0.5)),
                 l.host_longer,
                 l.call_ns,
                 l.graph_call_ns,
                 device.short_wait_ns,
                 device.launching_ns});
    }
    return table.write(trace);
  }

 private:
  // By the name of a call.
  bool isGraph(StringId name) {
    if (name.value >= graphs_.size()) graphs_.resize(std::size_t{name.value} + 1, Known::no);
    auto& known = graphs_[name.value];
    if (known == Known::no)
      known = (meaningOf(trace_.string(name), EventKind::api) & kLaunchesGraph) != 0 ? Known::graph
                                                                                     : Known::other;
    return known == Known::graph;
  }

  enum class Known : std::uint8_t { no, graph, other };
  const Trace& trace_;
  std::vector<Known> graphs_;
  std::vector<Sums> devices_;
};

}  // namespace

std::unique_ptr<TimeChunkAnalysis> analyzeLaunches(const Trace& trace, std::size_t devices) {
  return std::make_unique<Launches>(trace, devices);
}

}  // namespace pitwall::analysis
