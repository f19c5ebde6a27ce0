// Threads: how much of the time they work, how much of a CPU they use, and what they use it for. CPU use
// comes from the samples of `pitwall record`; without them those columns are null.
//
// Spin is CPU time that a thread without events of its own (an OpenMP team's) uses while no operator runs.
// The imbalance of a team is 1 - mean/max of the CPU that its threads use: 0 when all work alike.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>

#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/statistics.h"
#include "analyzer/analysis/temp_table.h"
#include "db/meta.h"

namespace pitwall::analysis {
namespace {

SqlValue number(const std::optional<double>& value) { return known(value.has_value(), value.value_or(0)); }

struct Sampled {
  ThreadId thread;
  std::optional<double> cpu, waiting, forced, voluntary;
  std::int64_t cpus = 0, migrations = 0;  // 0 = not sampled
  double spin_ns = 0, cpu_ns = 0;
};

std::string threadName(const Trace& trace, ThreadId id) {
  return id && id.value <= trace.threads().size() ? trace.threads()[id.value - 1].name : "";
}

void addCpuNumbers(const std::vector<CounterSample>& samples, Sampled& thread) {
  std::set<std::int64_t> cpus;
  double last = -1;
  for (const auto& sample : samples) {
    cpus.insert(static_cast<std::int64_t>(sample.value));
    thread.migrations += last >= 0 && sample.value != last;
    last = sample.value;
  }
  thread.cpus = static_cast<std::int64_t>(cpus.size());
}

// A sample tells of the time since the one before it.
void addCpu(const std::vector<CounterSample>& samples, const Intervals& operators, Sampled& thread) {
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const TimeNs from = samples[i - 1].time_ns, to = samples[i].time_ns;
    const double used = samples[i].value * static_cast<double>(to - from);
    const auto idle = static_cast<double>((to - from) - coveredWithin(operators, from, to));
    thread.cpu_ns += used;
    thread.spin_ns += to > from ? used * idle / static_cast<double>(to - from) : 0;
  }
}

class Threads {
 public:
  Threads(Trace& trace, const Context& context) : trace_(trace), context_(context) {
    for (const auto& op : context.timeline.operators) appendUnion(operators_, {op.start_ns, op.end_ns});
  }

  Status write() {
    if (auto status = readCounters(); !status.has_value()) return status;
    if (auto status = writeThreads(); !status.has_value()) return status;
    return writeSummary();
  }

 private:
  Sampled& of(ThreadId thread) {
    for (auto& sampled : sampled_) {
      if (sampled.thread == thread) return sampled;
    }
    sampled_.emplace_back();
    sampled_.back().thread = thread;
    return sampled_.back();
  }

  Status readCounters() {
    TempTable table(
        "analysis_counter",
        "name TEXT, unit TEXT, thread TEXT, device INTEGER, process INTEGER, samples INTEGER, mean REAL, "
        "min REAL, max REAL, first REAL, last REAL, p95 REAL");
    const auto tracks = trace_.tracks();
    for (std::uint32_t i = 0; i < tracks.size(); ++i) {
      if (tracks[i].kind != TrackKind::counter) continue;
      auto samples = trace_.counters(TrackId{i + 1});
      if (!samples.has_value()) return fail(samples.error());
      if (samples.value().empty()) continue;
      std::vector<double> values;
      for (const auto& sample : samples.value()) {
        if (std::isfinite(sample.value)) values.push_back(sample.value);
      }
      if (values.empty()) continue;
      const double first = values.front(), last = values.back(), average = mean(values);
      std::sort(values.begin(), values.end());
      table.row({tracks[i].name, tracks[i].unit, threadName(trace_, tracks[i].thread),
                 static_cast<std::int64_t>(tracks[i].device.value),
                 static_cast<std::int64_t>(tracks[i].process.value), static_cast<std::int64_t>(values.size()),
                 average, values.front(), values.back(), first, last, quantileOfSorted(values, 0.95)});
      if (tracks[i].thread) addThreadCounter(tracks[i], samples.value(), average);
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
    TempTable table(
        "analysis_thread",
        "thread TEXT, process INTEGER, events INTEGER, busy_ns INTEGER, span_ns INTEGER, utilisation REAL, "
        "cpu REAL, waiting_for_cpu REAL, forced_switches REAL, voluntary_switches REAL, cpus_used INTEGER, "
        "spin_share REAL");
    const TimeNs span = context_.timeline.end_ns - context_.timeline.begin_ns;
    std::set<ThreadId> with_events;
    const auto row = [&](const std::string& name, ProcessId process, const TrackActivity* track,
                         const Sampled* s) {
      const TimeNs busy = track != nullptr ? track->busy_ns : 0;
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
        values.push_back(known(pool && s->cpu_ns > 0, s->spin_ns / std::max(s->cpu_ns, 1.0)));
      }
      table.row(std::move(values));
    };
    for (const auto& track : context_.activity.tracks) {
      const auto& info = trace_.tracks()[track.id.value - 1];
      if (info.kind != TrackKind::thread) continue;
      const auto found = std::find_if(sampled_.begin(), sampled_.end(),
                                      [&](const Sampled& s) { return s.thread == info.thread; });
      if (track.events > 0) with_events.insert(info.thread);
      row(info.name, info.process, &track, found == sampled_.end() ? nullptr : &*found);
    }
    for (const auto& s : sampled_) {
      const bool shown = std::any_of(trace_.tracks().begin(), trace_.tracks().end(), [&](const TrackInfo& t) {
        return t.kind == TrackKind::thread && t.thread == s.thread;
      });
      if (!shown && s.thread.value <= trace_.threads().size())
        row(threadName(trace_, s.thread), trace_.threads()[s.thread.value - 1].process, nullptr, &s);
    }
    with_events_ = std::move(with_events);
    return table.write(trace_);
  }

  Status writeSummary() {
    double running = 0, waiting = 0, team_sum = 0, team_max = 0, spin = 0, cpu = 0;
    std::int64_t sampled = 0, team = 0, cpus = 0, migrations = 0;
    bool waiting_known = false;
    for (const auto& s : sampled_) {
      cpus = std::max(cpus, s.cpus);
      migrations += s.migrations;
      if (s.waiting) waiting_known = true, waiting += *s.waiting;
      if (!s.cpu) continue;
      ++sampled;
      running += *s.cpu;
      if (with_events_.contains(s.thread)) continue;
      if (*s.cpu >= 0.05) ++team, team_sum += *s.cpu, team_max = std::max(team_max, *s.cpu);
      spin += s.spin_ns;
      cpu += s.cpu_ns;
    }
    const double span = static_cast<double>(context_.timeline.end_ns - context_.timeline.begin_ns) * 1e-9;
    TempTable table("analysis_threads",
                    "threads INTEGER, sampled INTEGER, runnable_mean REAL, waiting_mean REAL, team INTEGER, "
                    "team_imbalance "
                    "REAL, spin_share REAL, spin_cpus REAL, distinct_cpus INTEGER, migrations_per_second "
                    "REAL, usable_cpus "
                    "INTEGER");
    const auto usable = trace_.meta(meta::kUsableCpus);
    table.row({static_cast<std::int64_t>(trace_.threads().size()), sampled, known(sampled > 0, running),
               known(waiting_known, waiting), team,
               known(team >= 2, 1 - team_sum / static_cast<double>(std::max<std::int64_t>(team, 1)) /
                                        std::max(team_max, 0.01)),
               known(cpu > 0, spin / std::max(cpu, 1.0)),
               known(span > 0 && sampled > 0, spin * 1e-9 / std::max(span, 1e-9)), known(cpus > 0, cpus),
               known(cpus > 0 && span > 0, static_cast<double>(migrations) / std::max(span, 1e-9)),
               known(usable.has_value(),
                     static_cast<std::int64_t>(std::strtoll(usable.value_or("0").c_str(), nullptr, 10)))});
    return table.write(trace_);
  }

  Trace& trace_;
  const Context& context_;
  Intervals operators_;
  std::vector<Sampled> sampled_;
  std::set<ThreadId> with_events_;
};

}  // namespace

Status writeThreads(Trace& trace, const Context& context) { return Threads(trace, context).write(); }

}  // namespace pitwall::analysis
