// Calls of device libraries by thread, and every name of the trace with its sums.
#include <algorithm>
#include <map>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/temp_table.h"
#include "analyzer/analysis/time_chunk_analysis.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kNameColumns[] = {
    {"name", kText, "", "name of the events"},
    {"kind", kText, "", "their kind, as in the table event: 'operator', 'scope', 'api', ..."},
    {"track_kind", kText, "", "'thread' or 'stream'"},
    {"process", kText, "", "name of the process; empty = none"},
    {"count", kInteger, "count", "events"},
    {"items", kInteger, "number", "sum of the events' values: executions of an operator, bytes of a copy"},
    {"total_ns", kInteger, "ns", "sum of the durations"},
    {"min_ns", kInteger, "ns", "shortest duration"},
    {"max_ns", kInteger, "ns", "longest duration"},
    {"class", kText, "", "'transfer' for operators that move data between devices; else empty"},
};
constexpr Column kCallColumns[] = {
    {"thread", kText, "", "name of the thread's track"},
    {"name", kText, "", "function that is called"},
    {"class", kText, "", "'launch', 'synchronisation', 'copy', 'allocation', 'memset', 'module' or 'other'"},
    {"count", kInteger, "count", "calls"},
    {"total_ns", kInteger, "ns", "sum of the durations"},
    {"idle_ns", kInteger, "ns", "part of total_ns in which every device is idle"},
    {"steady_count", kInteger, "count", "calls that start in a steady iteration"},
};

constexpr TableDeclaration kNameTable{"analysis_name",
                                      "An event name by kind, kind of track and process, over the whole "
                                      "trace (recorded_ns of analysis_summary).",
                                      kNameColumns};
constexpr TableDeclaration kCallTable{"analysis_call",
                                      "A function of a device library by calling thread, over the whole "
                                      "trace (recorded_ns of analysis_summary).",
                                      kCallColumns};

namespace {

const char* classOf(std::string_view name) {
  const auto meaning = meaningOf(name, EventKind::api);
  if ((meaning & kLaunches) != 0) return "launch";
  if (contains(name, "Synchronize") || contains(name, "StreamWait")) return "synchronisation";
  if (contains(name, "Memcpy")) return "copy";
  if (contains(name, "Memset")) return "memset";
  if (contains(name, "Malloc") || contains(name, "Free") || contains(name, "MemAlloc") ||
      contains(name, "HostAlloc"))
    return "allocation";
  if (contains(name, "ModuleLoad") || contains(name, "LibraryLoad")) return "module";
  return "other";
}

// Moments of a time chunk in which every device is idle.
Intervals allIdle(std::span<const DeviceChunk> devices) {
  Intervals idle;
  for (std::size_t i = 0; i < devices.size(); ++i)
    idle = i == 0 ? devices[i].idle : intersect(idle, devices[i].idle);
  return idle;
}

struct Sum {
  StringId name;
  std::int64_t count = 0, steady = 0;
  TimeNs total_ns = 0, idle_ns = 0;
};

// Of one thread.
struct ThreadCalls {
  struct Open {
    std::uint32_t sum = 0;
    TimeNs end_ns = 0;
  };
  TrackId track;
  std::vector<Sum> sums;
  std::vector<std::uint32_t> slots;  // by name: index in sums, from 1
  std::vector<Open> open;            // calls that last beyond the time chunks so far

  std::uint32_t slotOf(StringId name) {
    if (name.value >= slots.size()) slots.resize(std::size_t{name.value} + 1, 0);
    auto& slot = slots[name.value];
    if (slot == 0) {
      sums.push_back({name});
      slot = static_cast<std::uint32_t>(sums.size());
    }
    return slot - 1;
  }
};

// Calls of one thread after the other, each thread's in order of time, so that cursors only advance.
class Calls final : public TimeChunkAnalysis {
 public:
  explicit Calls(std::span<const Iteration> iterations) : iterations_(iterations) {}

  void add(const TimeChunkView& now) override {
    const auto idle = allIdle(now.devices);
    const auto begin = static_cast<std::size_t>(
        std::partition_point(iterations_.begin(), iterations_.end(),
                             [&](const Iteration& i) { return i.end_ns <= now.chunk.from_ns; }) -
        iterations_.begin());
    for (auto& thread : threads_) advance(thread, idle, now.chunk);
    const auto& calls = now.chunk.calls;
    for (std::size_t i = 0; i < calls.size();) {
      auto& thread = threadOf(calls[i].track);
      CoverCursor cursor(idle);
      std::size_t at = begin;
      for (; i < calls.size() && calls[i].track == thread.track; ++i)
        add(calls[i], thread, cursor, at, now.chunk.to_ns);
    }
  }

  Status write(Trace& trace, const Context& context) override;

 private:
  ThreadCalls& threadOf(TrackId track) {
    if (track.value >= places_.size()) places_.resize(std::size_t{track.value} + 1, 0);
    auto& place = places_[track.value];
    if (place == 0) {
      threads_.emplace_back();
      threads_.back().track = track;
      place = static_cast<std::uint32_t>(threads_.size());
    }
    return threads_[place - 1];
  }

  // Calls that began in an earlier time chunk.
  static void advance(ThreadCalls& thread, const Intervals& idle, const TimeChunk& chunk) {
    CoverCursor cursor(idle);
    std::size_t kept = 0;
    for (const auto call : thread.open) {
      thread.sums[call.sum].idle_ns += cursor.within(chunk.from_ns, std::min(call.end_ns, chunk.to_ns));
      if (call.end_ns > chunk.to_ns) thread.open[kept++] = call;
    }
    thread.open.resize(kept);
  }

  void add(const HostCall& call, ThreadCalls& thread, CoverCursor& idle, std::size_t& at, TimeNs to_ns) {
    const std::uint32_t slot = thread.slotOf(call.name);
    auto& sum = thread.sums[slot];
    ++sum.count;
    sum.total_ns += call.end_ns - call.start_ns;
    sum.idle_ns += idle.within(call.start_ns, std::min(call.end_ns, to_ns));
    if (call.end_ns > to_ns) thread.open.push_back({slot, call.end_ns});
    while (at < iterations_.size() && iterations_[at].end_ns <= call.start_ns) ++at;
    sum.steady += at < iterations_.size() && iterations_[at].start_ns <= call.start_ns &&
                  iterations_[at].role == IterationRole::steady;
  }

  std::span<const Iteration> iterations_;
  std::vector<ThreadCalls> threads_;
  std::vector<std::uint32_t> places_;  // by track: index in threads_, from 1
};

Status writeNames(Trace& trace, const Activity& activity) {
  TempTable table(kNameTable);
  std::map<std::tuple<StringId, EventKind, TrackKind, ProcessId>, NameTotal> sums;
  for (const auto& total : activity.names) {
    const auto [entry, is_new] =
        sums.try_emplace({total.name, total.kind, total.track_kind, total.process}, total);
    if (is_new) continue;
    auto& sum = entry->second;
    sum.count += total.count;
    sum.items += total.items;
    sum.total_ns += total.total_ns;
    sum.min_ns = std::min(sum.min_ns, total.min_ns);
    sum.max_ns = std::max(sum.max_ns, total.max_ns);
  }
  for (const auto& [key, sum] : sums) {
    const auto& name = trace.string(sum.name);
    const bool known = sum.process && sum.process.value <= trace.processes().size();
    const bool transfers = (meaningOf(name, sum.kind) & kTransfers) != 0;
    table.row({name, toString(sum.kind), toString(sum.track_kind),
               known ? trace.processes()[sum.process.value - 1].name : "", sum.count, sum.items, sum.total_ns,
               sum.min_ns, sum.max_ns, transfers ? "transfer" : ""});
  }
  return table.write(trace);
}

Status Calls::write(Trace& trace, const Context& context) {
  PITWALL_TRY(writeNames(trace, context.activity));
  TempTable table(kCallTable);
  for (const auto& track : context.activity.tracks) {
    if (track.id.value >= places_.size() || places_[track.id.value] == 0) continue;
    for (const auto& sum : threads_[places_[track.id.value] - 1].sums) {
      const auto& name = trace.string(sum.name);
      table.row({trace.tracks()[track.id.value - 1].name, name, classOf(name), sum.count, sum.total_ns,
                 sum.idle_ns, sum.steady});
    }
  }
  return table.write(trace);
}

}  // namespace

std::unique_ptr<TimeChunkAnalysis> analyzeCalls(std::span<const Iteration> iterations) {
  return std::make_unique<Calls>(iterations);
}

}  // namespace pitwall::analysis
