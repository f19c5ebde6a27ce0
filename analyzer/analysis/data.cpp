// The data pipeline: what the program waits for, and how fast batches are made and used. All of it within the
// window of the breakdown, so that no share mixes two time windows.
#include <algorithm>
#include <map>
#include <optional>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/data_work.h"
#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/loading_cpu.h"
#include "analyzer/analysis/statistics.h"
#include "analyzer/analysis/temp_table.h"
#include "analyzer/analysis/window.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kDataRangeColumns[] = {
    {"name", kText, "", "name of the range"},
    {"count", kInteger, "count", "waits in the window"},
    {"total_ns", kInteger, "ns", "time in the window; waits that overlap count once"},
    {"mean_ns", kReal, "ns", "total_ns over count"},
    {"max_ns", kInteger, "ns", "longest wait"},
    {"share", kReal, "0..1", "of the window"},
};
constexpr Column kDataColumns[] = {
    {"wait_ns_per_iteration", kReal, "ns",
     "time in which the training thread waits for a batch or loads it, of an iteration"},
    {"wait_share", kReal, "0..1", "that time as a share of the window"},
    {"wait_p50_ns", kReal, "ns", "median wait"},
    {"wait_p95_ns", kReal, "ns", "wait that 95 % do not exceed"},
    {"waits", kInteger, "count", "waits in the window"},
    {"producers", kInteger, "count", "threads that make batches"},
    {"batches", kInteger, "count", "batches whose making starts in the window"},
    {"producer_ns_per_batch", kReal, "ns", "time that a producer needs for a batch; null = no batches"},
    {"producer_batches_per_second", kReal, "1/s", "batches that all producers can make; null = no batches"},
    {"consumer_batches_per_second", kReal, "1/s",
     "iterations of the training thread; null = the window is empty"},
    {"producer_busy", kReal, "0..1",
     "share of the window in which a producer makes batches; null = no producers"},
    {"producer_cpu", kReal, "0..1",
     "CPUs that a producer uses at most while it makes a batch; null = not sampled"},
    {"wait_cpus", kReal, "CPUs",
     "CPUs that all threads together use at most while the training thread waits for a batch or loads it; "
     "null = too "
     "few samples"},
};

constexpr TableDeclaration kDataRangeTable{
    "analysis_data_range", "The waits for batches by the name of their range, within the report's window.",
    kDataRangeColumns};
constexpr TableDeclaration kDataTable{"analysis_data",
                                      "One row: how the process of the report gets its batches, within the "
                                      "report's window. No row = it neither waits for batches nor makes any.",
                                      kDataColumns};

namespace {

constexpr std::size_t kLeastSamples = 5;  // fewer say nothing about a thread's use of a CPU

// Of the threads of one process that make batches.
struct Making {
  std::int64_t producers = 0, batches = 0;
  TimeNs work_ns = 0, in_training_ns = 0;
  std::vector<TrackId> tracks;
};

const TrackInfo& infoOf(const Trace& trace, const TrackActivity& track) {
  return trace.tracks()[track.id.value - 1];
}

Making makingOf(const Context& context, const Window& window, std::span<const TrackInfo> tracks) {
  Making making;
  for (const auto& track : context.activity.tracks) {
    if (track.data_works == 0 || tracks[track.id.value - 1].process != context.timeline.process) continue;
    const auto& works = track.data_work_list;
    const TimeNs work_ns = coveredWithin(window, united(works));
    ++making.producers;
    making.tracks.push_back(track.id);
    making.work_ns += work_ns;
    if (track.id == context.timeline.training_track) making.in_training_ns += work_ns;
    for (const auto& span : window.spans) {
      const auto from = std::lower_bound(works.begin(), works.end(), span.start_ns,
                                         [](const Interval& w, TimeNs at) { return w.start_ns < at; });
      const auto to = std::lower_bound(from, works.end(), span.end_ns,
                                       [](const Interval& w, TimeNs at) { return w.start_ns < at; });
      making.batches += to - from;
    }
  }
  return making;
}

// Upper bound of the CPUs that a producer uses while it makes a batch: the CPU time of its thread over the
// time in which it made batches, both since its first sample.
Result<std::optional<double>> producerCpu(Trace& trace, const Context& context, const Making& making) {
  double used_ns = 0, made_ns = 0;
  const auto tracks = trace.tracks();
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    if (tracks[i].kind != TrackKind::counter || tracks[i].name != "cpu" || !tracks[i].thread) continue;
    for (const TrackId id : making.tracks) {
      if (tracks[id.value - 1].thread != tracks[i].thread) continue;
      const auto list = PITWALL_TRY(trace.counters(TrackId{i + 1}));
      if (list.size() < kLeastSamples) continue;
      for (std::size_t s = 1; s < list.size(); ++s)
        used_ns += list[s].value * static_cast<double>(list[s].time_ns - list[s - 1].time_ns);
      const auto& activity = context.activity.tracks;
      const auto made = std::find_if(activity.begin(), activity.end(),
                                     [id](const TrackActivity& track) { return track.id == id; });
      const auto works = united(made->data_work_list);
      made_ns += static_cast<double>(covered(within(works, list.front().time_ns, list.back().time_ns)));
    }
  }
  if (made_ns <= 0) return std::optional<double>();
  return std::optional<double>(std::clamp(used_ns / made_ns, 0.0, 1.0));
}

// Of the training thread; where that is unknown, of all threads of the process.
std::vector<BatchWait> waitsOf(const Trace& trace, const Context& context) {
  std::vector<BatchWait> all;
  for (const auto& track : context.activity.tracks) {
    if (track.id == context.timeline.training_track && !track.batch_waits.empty()) return track.batch_waits;
    if (infoOf(trace, track).process == context.timeline.process)
      all.insert(all.end(), track.batch_waits.begin(), track.batch_waits.end());
  }
  return all;
}

double shareOf(const Window& window, TimeNs part) {
  return static_cast<double>(part) / static_cast<double>(std::max<TimeNs>(1, window.length_ns));
}

Status writeRanges(Trace& trace, const Window& window, std::span<const BatchWait> waits) {
  TempTable table(kDataRangeTable);
  std::map<StringId, Intervals> by_name;
  for (const auto& wait : waits) by_name[wait.name].push_back(wait.time);
  for (auto& [name, list] : by_name) {
    std::int64_t count = 0;
    TimeNs longest = 0;
    for (const auto& time : list) {
      const TimeNs inside = covered(within(window.spans, time.start_ns, time.end_ns));
      count += inside > 0;
      longest = std::max(longest, inside);
    }
    if (count == 0) continue;
    const TimeNs total = coveredWithin(window, united(std::move(list)));
    table.row({trace.string(name), count, total, static_cast<double>(total) / static_cast<double>(count),
               longest, shareOf(window, total)});
  }
  return table.write(trace);
}

}  // namespace

Status writeData(Trace& trace, const Context& context) {
  TempTable table(kDataTable);
  const Window window = windowOf(context.devices, context.iterations.all);
  const auto batch_waits = waitsOf(trace, context);
  PITWALL_TRY(writeRanges(trace, window, batch_waits));
  std::vector<double> waits;
  Intervals all_waits;
  for (const auto& wait : batch_waits) {
    const TimeNs inside = covered(within(window.spans, wait.time.start_ns, wait.time.end_ns));
    if (inside > 0) waits.push_back(static_cast<double>(inside));
    all_waits.push_back(wait.time);
  }
  std::sort(waits.begin(), waits.end());
  const Making making = makingOf(context, window, trace.tracks());
  PITWALL_TRY(writeDataWork(trace, window, making.tracks, making.work_ns));
  if (waits.empty() && making.batches == 0) return table.write(trace);
  auto cpu = PITWALL_TRY(producerCpu(trace, context, making));
  const auto wait_cpus = PITWALL_TRY(cpusWhileWaiting(trace, context.iterations.all, all_waits));
  const TimeNs waited = coveredWithin(window, united(std::move(all_waits)));
  const auto seconds = static_cast<double>(window.length_ns) * 1e-9;
  const auto iterations = static_cast<double>(window.iterations);
  const auto per_batch =
      making.batches > 0 ? static_cast<double>(making.work_ns) / static_cast<double>(making.batches) : 0;
  const double threads_ns = static_cast<double>(making.producers) * static_cast<double>(window.length_ns);
  table.row({static_cast<double>(waited) / iterations, shareOf(window, waited), quantileOfSorted(waits, 0.5),
             quantileOfSorted(waits, 0.95), static_cast<std::int64_t>(waits.size()), making.producers,
             making.batches, known(making.batches > 0, per_batch),
             known(per_batch > 0, static_cast<double>(making.producers) * 1e9 / std::max(per_batch, 1.0)),
             known(seconds > 0, iterations / std::max(seconds, 1e-9)),
             known(threads_ns > 0, static_cast<double>(making.work_ns) / std::max(threads_ns, 1.0)),
             known(cpu.has_value(), cpu.value_or(0)), known(wait_cpus.has_value(), wait_cpus.value_or(0))});
  return table.write(trace);
}

void addDataFacts(const Trace& trace, const Context& context, std::vector<Fact>& facts) {
  const Window window = windowOf(context.devices, context.iterations.all);
  const Making making = makingOf(context, window, trace.tracks());
  const bool any = making.work_ns > 0;
  const auto work = static_cast<double>(making.work_ns);
  facts.push_back({"data_work_ns_per_iteration",
                   any ? SqlValue(work / static_cast<double>(window.iterations)) : SqlValue()});
  facts.push_back({"data_work_tracks", making.producers});
  facts.push_back({"data_work_in_training_share",
                   any ? SqlValue(static_cast<double>(making.in_training_ns) / work) : SqlValue()});
}

}  // namespace pitwall::analysis
