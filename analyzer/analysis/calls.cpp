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
  std::int64_t count = 0, steady = 0;
  TimeNs total_ns = 0, idle_ns = 0;
};

bool inSteady(std::span<const Iteration> iterations, TimeNs at) {
  const auto found = std::partition_point(iterations.begin(), iterations.end(),
                                          [at](const Iteration& i) { return i.end_ns <= at; });
  return found != iterations.end() && found->start_ns <= at && found->role == IterationRole::steady;
}

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
  std::map<std::pair<TrackId, StringId>, Sum> sums;
  for (const auto& call : context.activity.calls) {
    auto& sum = sums[{call.track, call.name}];
    ++sum.count;
    sum.total_ns += call.end_ns - call.start_ns;
    sum.idle_ns += coveredWithin(idle, call.start_ns, call.end_ns);
    sum.steady += inSteady(context.iterations.all, call.start_ns);
  }
  for (const auto& [key, sum] : sums) {
    const auto& name = trace.string(key.second);
    table.row({trace.tracks()[key.first.value - 1].name, name, classOf(name), sum.count, sum.total_ns,
               sum.idle_ns, sum.steady});
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
