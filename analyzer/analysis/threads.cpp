// Threads: how much of the time they work, how much of a CPU they use, and what they use it for. CPU use
// comes from the samples of `pitwall record`; without them those columns are null.
// Spin is known only where every operator was recorded: otherwise that time may be work.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/operator_clock.h"
#include "analyzer/analysis/statistics.h"
#include "analyzer/analysis/temp_table.h"
#include "analyzer/analysis/time_chunk_analysis.h"
#include "analyzer/analysis/track_kinds.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kCounterColumns[] = {
    {"name", kText, "", "name of the counter"},
    {"unit", kText, "", "unit of its values"},
    {"thread", kText, "", "name of its thread; empty = none"},
    {"device", kInteger, "id", "its device; 0 = none"},
    {"process", kInteger, "id", "its process; 0 = none"},
    {"samples", kInteger, "count", "finite values"},
    {"mean", kReal, "as in unit", "mean of the values"},
    {"min", kReal, "as in unit", "least value"},
    {"max", kReal, "as in unit", "greatest value"},
    {"first", kReal, "as in unit", "first value"},
    {"last", kReal, "as in unit", "last value"},
    {"p95", kReal, "as in unit", "value that 95 % do not exceed"},
};
constexpr Column kThreadColumns[] = {
    {"thread", kText, "", "name of the thread"},
    {"process", kInteger, "id", "its process; 0 = none"},
    {"events", kInteger, "count", "events of the thread"},
    {"busy_ns", kInteger, "ns", "time within its events"},
    {"span_ns", kInteger, "ns", "length of the trace"},
    {"utilisation", kReal, "0..1", "busy_ns over span_ns"},
    {"cpu", kReal, "0..1", "mean share of a CPU that it uses; null = not sampled"},
    {"waiting_for_cpu", kReal, "0..1",
     "mean share of the time in which it waits for a CPU; null = not sampled"},
    {"forced_switches", kReal, "1/s", "times that it is taken off its CPU; null = not sampled"},
    {"voluntary_switches", kReal, "1/s", "times that it gives up its CPU to wait; null = not sampled"},
    {"cpus_used", kInteger, "count", "different CPUs that it ran on; null = not sampled"},
    {"spin_share", kReal, "0..1",
     "share of its CPU time that it uses while no operator runs, of threads without their own events; null = "
     "not sampled, or not every operator was recorded"},
};
constexpr Column kThreadsColumns[] = {
    {"threads", kInteger, "count", "threads in the trace"},
    {"sampled", kInteger, "count", "threads whose use of CPUs was sampled"},
    {"runnable_mean", kReal, "CPUs", "CPUs in use: mean; null = not sampled"},
    {"waiting_mean", kReal, "count", "threads that wait for a CPU: mean; null = not sampled"},
    {"team", kInteger, "count",
     "threads without their own events, as those of an OpenMP team, that use 0.05 CPUs or more"},
    {"team_imbalance", kReal, "0..1",
     "1 - mean/max of the CPUs that these use: 0 = all work equally; null = fewer than two, or not every "
     "operator was recorded"},
    {"spin_share", kReal, "0..1",
     "of the CPU time of threads without their own events: used while no operator runs; null = not sampled, "
     "or not every operator was recorded"},
    {"spin_cpus", kReal, "CPUs",
     "CPUs that this takes: mean; null = not sampled, or not every operator was recorded"},
    {"distinct_cpus", kInteger, "count", "most different CPUs that one thread ran on; null = not sampled"},
    {"migrations_per_second", kReal, "1/s", "changes of threads from one CPU to another; null = not sampled"},
    {"usable_cpus", kInteger, "count", "CPUs that the program may use: affinity and quota; null = unknown"},
    {"computing", kInteger, "count",
     "threads that run or wait for a CPU a tenth of the time or more, but not those that give it up at once, "
     "as in loops of sched_yield(): less than a quarter of the usual part of that time they run; null = not "
     "sampled"},
};

constexpr TableDeclaration kCounterTable{
    "analysis_counter", "A counter track with the statistics of its values, over the whole trace.",
    kCounterColumns};
constexpr TableDeclaration kThreadTable{"analysis_thread", "A thread, over the whole trace.", kThreadColumns};
constexpr TableDeclaration kThreadsTable{
    "analysis_threads", "One row: all threads together, over the whole trace.", kThreadsColumns};

namespace {

constexpr double kComputes = 0.05;  // of a CPU: a thread that uses less is not computing
constexpr double kWantsCpu = 0.1;   // of the time: on a CPU or waiting for one
constexpr double kYields = 0.25;  // of the usual share of that time: a thread that runs less gives its CPU up

SqlValue number(const std::optional<double>& value) { return known(value.has_value(), value.value_or(0)); }

struct SampledThreads {
  ThreadId thread;
  std::optional<double> cpu, waiting, forced, voluntary;
  std::int64_t cpus = 0, migrations = 0;  // 0 = not sampled
  double spin_ns = 0, cpu_ns = 0;
};

std::string threadName(const Trace& trace, ThreadId id) {
  return id && id.value <= trace.threads().size() ? trace.threads()[id.value - 1].name : "";
}

void addCpuNumbers(const std::vector<CounterSample>& samples, SampledThreads& thread) {
  std::set<std::int64_t> cpus;
  double last = -1;
  for (const auto& sample : samples) {
    cpus.insert(static_cast<std::int64_t>(sample.value));
    thread.migrations += last >= 0 && sample.value != last;
    last = sample.value;
  }
  thread.cpus = static_cast<std::int64_t>(cpus.size());
}

// A sample covers the time since the one before it.
void addCpu(const std::vector<CounterSample>& samples, OperatorClock& operators, SampledThreads& thread) {
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const TimeNs from = samples[i - 1].time_ns, to = samples[i].time_ns;
    const double used = samples[i].value * static_cast<double>(to - from);
    const auto idle = static_cast<double>((to - from) - (operators.ran(to) - operators.ran(from)));
    thread.cpu_ns += used;
    thread.spin_ns += to > from ? used * idle / static_cast<double>(to - from) : 0;
  }
}

// Writes the tables, after all time chunks have been read.
class ThreadTables {
 public:
  // `busy_ns` is by place in Activity::tracks.
  ThreadTables(Trace& trace, const Context& context, std::span<const TimeNs> busy_ns,
               OperatorClock& operators)
      : trace_(trace), context_(context), busy_ns_(busy_ns), operators_(operators) {}

  Status write() {
    PITWALL_TRY(readCounters());
    PITWALL_TRY(writeThreads());
    return writeSummary();
  }

 private:
  // Whether what the process's threads do between operators can be distinguished from work.
  bool seesWork(ProcessId process) const {
    const auto& timeline = context_.timeline;
    return timeline.operators > 0 && !timeline.library_calls_only && process == timeline.process;
  }

  ProcessId processOf(ThreadId thread) const {
    return thread && thread.value <= trace_.threads().size() ? trace_.threads()[thread.value - 1].process
                                                             : ProcessId();
  }

  SampledThreads& of(ThreadId thread) {
    for (auto& sampled : sampled_) {
      if (sampled.thread == thread) return sampled;
    }
    sampled_.emplace_back();
    sampled_.back().thread = thread;
    return sampled_.back();
  }

  Status readCounters() {
    TempTable table(kCounterTable);
    const auto tracks = trace_.tracks();
    for (std::uint32_t i = 0; i < tracks.size(); ++i) {
      if (tracks[i].kind != TrackKind::counter || tracks[i].unit == kStackUnit) continue;
      auto samples = PITWALL_TRY(trace_.counters(TrackId{i + 1}));
      if (samples.empty()) continue;
      std::vector<double> values;
      for (const auto& sample : samples) {
        if (std::isfinite(sample.value)) values.push_back(sample.value);
      }
      if (values.empty()) continue;
      const double first = values.front(), last = values.back(), average = mean(values);
      std::sort(values.begin(), values.end());
      table.row({tracks[i].name, tracks[i].unit, threadName(trace_, tracks[i].thread),
                 static_cast<std::int64_t>(tracks[i].device.value),
                 static_cast<std::int64_t>(tracks[i].process.value), static_cast<std::int64_t>(values.size()),
                 average, values.front(), values.back(), first, last, quantileOfSorted(values, 0.95)});
      if (tracks[i].thread) addThreadCounter(tracks[i], samples, average);
    }
    return table.write(trace_);
  }

  void addThreadCounter(const TrackInfo& info, const std::vector<CounterSample>& samples, double average) {
    auto& thread = of(info.thread);
    if (info.name == "cpu") thread.cpu = average, addCpu(samples, operators_, thread);
    if (info.name == "waiting for a cpu") thread.waiting = average;
    if (info.name == "forced switches") thread.forced = average;
    if (info.name == "voluntary switches") thread.voluntary = average;
    if (info.name == "cpu number") addCpuNumbers(samples, thread);
  }

  Status writeThreads() {
    TempTable table(kThreadTable);
    const TimeNs span = context_.timeline.end_ns - context_.timeline.begin_ns;
    std::set<ThreadId> with_events;
    const auto row = [&](const std::string& name, ProcessId process, const TrackActivity* track, TimeNs busy,
                         const SampledThreads* s) {
      std::vector<SqlValue> values{name,
                                   static_cast<std::int64_t>(process.value),
                                   track != nullptr ? track->events : 0,
                                   busy,
                                   span,
                                   span > 0 ? static_cast<double>(busy) / static_cast<double>(span) : 0.0};
      if (s == nullptr) {
        values.resize(values.size() + 6);
      } else {
        const bool pool = track == nullptr || track->events == 0;
        for (const auto& value : {s->cpu, s->waiting, s->forced, s->voluntary})
          values.push_back(number(value));
        values.push_back(known(s->cpus > 0, s->cpus));
        values.push_back(
            known(pool && s->cpu_ns > 0 && seesWork(process), s->spin_ns / std::max(s->cpu_ns, 1.0)));
      }
      table.row(std::move(values));
    };
    for (std::size_t t = 0; t < context_.activity.tracks.size(); ++t) {
      const auto& track = context_.activity.tracks[t];
      const auto& info = trace_.tracks()[track.id.value - 1];
      if (info.kind != TrackKind::thread || isAsynchronous(info)) continue;
      const auto found = std::find_if(sampled_.begin(), sampled_.end(),
                                      [&](const SampledThreads& s) { return s.thread == info.thread; });
      if (track.events > 0) with_events.insert(info.thread);
      row(info.name, info.process, &track, busy_ns_[t], found == sampled_.end() ? nullptr : &*found);
    }
    for (const auto& s : sampled_) {
      const bool shown = std::any_of(trace_.tracks().begin(), trace_.tracks().end(), [&](const TrackInfo& t) {
        return t.kind == TrackKind::thread && t.thread == s.thread;
      });
      if (!shown && s.thread.value <= trace_.threads().size())
        row(threadName(trace_, s.thread), trace_.threads()[s.thread.value - 1].process, nullptr, 0, &s);
    }
    with_events_ = std::move(with_events);
    return table.write(trace_);
  }

  Status writeSummary() {
    double running = 0, waiting = 0, team_sum = 0, team_max = 0, spin = 0, cpu = 0;
    std::int64_t sampled = 0, team = 0, cpus = 0, migrations = 0, computing = 0;
    bool waiting_known = false, spin_known = false;
    for (const auto& s : sampled_) {
      cpus = std::max(cpus, s.cpus);
      migrations += s.migrations;
      if (s.waiting) waiting_known = true, waiting += *s.waiting;
      if (!s.cpu) continue;
      ++sampled;
      running += *s.cpu;
      if (with_events_.contains(s.thread) || !seesWork(processOf(s.thread))) continue;
      spin_known = true;
      if (*s.cpu >= kComputes) ++team, team_sum += *s.cpu, team_max = std::max(team_max, *s.cpu);
      spin += s.spin_ns;
      cpu += s.cpu_ns;
    }
    const double usual = running / std::max(running + waiting, 1e-9);
    for (const auto& s : sampled_) {
      const double wanted = s.cpu.value_or(0) + s.waiting.value_or(0);
      computing += wanted >= kWantsCpu && s.cpu.value_or(0) >= kYields * usual * wanted;
    }
    const double span = static_cast<double>(context_.timeline.end_ns - context_.timeline.begin_ns) * 1e-9;
    TempTable table(kThreadsTable);
    const auto usable = trace_.meta(meta::kUsableCpus);
    table.row({static_cast<std::int64_t>(trace_.threads().size()), sampled, known(sampled > 0, running),
               known(waiting_known, waiting), team,
               known(team >= 2, 1 - team_sum / static_cast<double>(std::max<std::int64_t>(team, 1)) /
                                        std::max(team_max, 0.01)),
               known(cpu > 0, spin / std::max(cpu, 1.0)),
               known(span > 0 && spin_known, spin * 1e-9 / std::max(span, 1e-9)), known(cpus > 0, cpus),
               known(cpus > 0 && span > 0, static_cast<double>(migrations) / std::max(span, 1e-9)),
               known(usable.has_value(),
                     static_cast<std::int64_t>(std::strtoll(usable.value_or("0").c_str(), nullptr, 10))),
               known(sampled > 0, computing)});
    return table.write(trace_);
  }

  Trace& trace_;
  const Context& context_;
  std::span<const TimeNs> busy_ns_;
  OperatorClock& operators_;
  std::vector<SampledThreads> sampled_;
  std::set<ThreadId> with_events_;
};

class Threads final : public TimeChunkAnalysis {
 public:
  Threads(std::size_t tracks, OperatorClock operators)
      : operators_(std::move(operators)), busy_ns_(tracks, 0), busy_until_ns_(tracks, INT64_MIN) {}

  void add(const TimeChunkView& now) override {
    operators_.add(now.chunk.operators);
    const auto& bounds = now.chunk.busy_of_track;
    for (std::size_t t = 0; t < busy_ns_.size(); ++t) {
      for (std::size_t i = bounds[t]; i < bounds[t + 1]; ++i) {
        const Interval& busy = now.chunk.busy[i];
        if (busy.end_ns <= busy_until_ns_[t]) continue;
        busy_ns_[t] += busy.end_ns - std::max(busy.start_ns, busy_until_ns_[t]);
        busy_until_ns_[t] = busy.end_ns;
      }
    }
  }

  Status write(Trace& trace, const Context& context) override {
    return ThreadTables(trace, context, busy_ns_, operators_).write();
  }

 private:
  OperatorClock operators_;
  std::vector<TimeNs> busy_ns_, busy_until_ns_;  // by place in Activity::tracks
};

}  // namespace

Result<std::unique_ptr<TimeChunkAnalysis>> analyzeThreads(Trace& trace, const Activity& activity) {
  std::vector<TimeNs> moments;
  const auto tracks = trace.tracks();
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    if (tracks[i].kind != TrackKind::counter || !tracks[i].thread || tracks[i].name != "cpu") continue;
    auto status = trace.visitCounters(TrackId{i + 1}, [&](std::span<const CounterSample> samples) {
      for (const auto& sample : samples) moments.push_back(sample.time_ns);
      return true;
    });
    PITWALL_TRY(status);
  }
  return std::unique_ptr<TimeChunkAnalysis>(
      std::make_unique<Threads>(activity.tracks.size(), OperatorClock(std::move(moments))));
}

}  // namespace pitwall::analysis
