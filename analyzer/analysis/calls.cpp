// Calls of device libraries by thread, and every name of the trace with its sums.
#include <algorithm>
#include <map>

#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

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

// Moments in which every device is idle.
Intervals allIdle(const Devices& devices) {
  Intervals idle;
  for (std::size_t i = 0; i < devices.all.size(); ++i)
    idle = i == 0 ? devices.all[i].idle : intersect(idle, devices.all[i].idle);
  return idle;
}

struct Sum {
  TrackId track;
  StringId name;
  std::int64_t count = 0, steady = 0;
  TimeNs total_ns = 0, idle_ns = 0;
};

// Calls of one thread after the other, each thread's in order of time, so that cursors walk along.
class CallSums {
 public:
  CallSums(const Intervals& idle, std::span<const Iteration> iterations)
      : all_idle_(idle), idle_(idle), iterations_(iterations) {}

  void add(const HostCall& call) {
    if (call.track != track_) begin(call.track);
    if (call.name.value >= slots_.size()) slots_.resize(std::size_t{call.name.value} + 1, 0);
    auto& slot = slots_[call.name.value];
    if (slot == 0) {
      sums_.push_back({call.track, call.name});
      slot = static_cast<std::uint32_t>(sums_.size());
    }
    auto& sum = sums_[slot - 1];
    ++sum.count;
    sum.total_ns += call.end_ns - call.start_ns;
    sum.idle_ns += idle_.within(call.start_ns, call.end_ns);
    while (at_ < iterations_.size() && iterations_[at_].end_ns <= call.start_ns) ++at_;
    sum.steady += at_ < iterations_.size() && iterations_[at_].start_ns <= call.start_ns &&
                  iterations_[at_].role == IterationRole::steady;
  }

  const std::vector<Sum>& sums() const { return sums_; }

 private:
  void begin(TrackId track) {
    for (; first_ < sums_.size(); ++first_) slots_[sums_[first_].name.value] = 0;
    track_ = track;
    idle_ = CoverCursor(all_idle_);
    at_ = 0;
  }

  std::span<const Interval> all_idle_;
  CoverCursor idle_;
  std::span<const Iteration> iterations_;
  std::size_t at_ = 0;
  TrackId track_;
  std::vector<std::uint32_t> slots_;  // by name: index in sums_, from 1; of this track
  std::size_t first_ = 0;             // of this track's in sums_
  std::vector<Sum> sums_;
};

Status writeNames(Trace& trace, const Activity& activity) {
  TempTable table(
      "analysis_name",
      "name TEXT, kind TEXT, track_kind TEXT, process TEXT, count INTEGER, items INTEGER, total_ns INTEGER, "
      "min_ns INTEGER, max_ns INTEGER, class TEXT");
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

}  // namespace

Status writeCalls(Trace& trace, const Context& context) {
  if (auto status = writeNames(trace, context.activity); !status.has_value()) return status;
  TempTable table("analysis_call",
                  "thread TEXT, name TEXT, class TEXT, count INTEGER, total_ns INTEGER, idle_ns INTEGER, "
                  "steady_count INTEGER");
  const auto idle = allIdle(context.devices);
  CallSums sums(idle, context.iterations.all);
  for (const auto& call : context.activity.calls) sums.add(call);
  for (const auto& sum : sums.sums()) {
    const auto& name = trace.string(sum.name);
    table.row({trace.tracks()[sum.track.value - 1].name, name, classOf(name), sum.count, sum.total_ns,
               sum.idle_ns, sum.steady});
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
