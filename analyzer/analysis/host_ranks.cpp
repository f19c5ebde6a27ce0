#include "analyzer/analysis/host_ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/analysis/exchanges.h"
#include "analyzer/analysis/store_operators.h"
#include "analyzer/analysis/window.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

struct HostCollective : Exchange {
  StringId name;
};

struct HostRank {
  ProcessId process;
  int rank = 0;
  std::vector<HostCollective> collectives;  // in order of time
  Intervals computation;
};

// Of threads that take part in collectives. What a server does for workers is none.
bool takesPart(const TrackInfo& track, const TrackActivity& activity) {
  return track.kind == TrackKind::thread && !activity.communication_list.empty() &&
         !isStoreServer(track.name);
}

std::vector<ProcessId> processesThatExchange(const Trace& trace, const Activity& activity) {
  std::set<std::uint32_t> processes;
  for (const TrackActivity& track : activity.tracks) {
    const TrackInfo& info = trace.tracks()[track.id.value - 1];
    if (info.process && takesPart(info, track)) processes.insert(info.process.value);
  }
  std::vector<ProcessId> result;
  for (const std::uint32_t process : processes) result.push_back(ProcessId{process});
  return result;
}

Status addCollectives(Trace& trace, const Context& context, HostRank& rank) {
  for (const TrackActivity& track : context.activity.tracks) {
    const TrackInfo& info = trace.tracks()[track.id.value - 1];
    if (info.process != rank.process || !takesPart(info, track)) continue;
    PITWALL_TRY(trace.eventColumns({.track = track.id, .fields = kStart | kDur | kName | kKind},
                                   [&](const EventSpans& events) {
                                     for (std::size_t i = 0; i < events.size; ++i) {
                                       if (static_cast<EventKind>(events.kind[i]) != EventKind::communication)
                                         continue;
                                       HostCollective& one = rank.collectives.emplace_back();
                                       one.time = {events.start_ns[i], events.start_ns[i] + events.dur_ns[i]};
                                       one.name = StringId{static_cast<std::uint32_t>(events.name[i])};
                                     }
                                     return !context.chunks.reading().cancelled();
                                   }));
  }
  std::ranges::stable_sort(rank.collectives, {}, [](const HostCollective& one) { return one.time.start_ns; });
  return context.chunks.reading().checkCancelled();
}

Status addComputation(Trace& trace, const Context& context, HostRank& rank) {
  TimeChunkReader chunks(trace, context.activity, rank.process, context.chunks.reading());
  PITWALL_TRY(chunks.each(kOperatorParts, [&](const TimeChunk& chunk) -> Result<bool> {
    for (const OperatorInterval& op : chunk.operators) {
      if (!context.timeline.isTransfer(op.op)) addInterval(rank.computation, {op.start_ns, op.end_ns});
    }
    return true;
  }));
  rank.computation = united(std::move(rank.computation));
  return {};
}

NumberedExchanges numberedCollectives(const Trace& trace, HostRank& rank) {
  NumberedExchanges result;
  std::map<std::uint32_t, std::int64_t> counts;
  for (HostCollective& one : rank.collectives)
    result[{trace.string(one.name), counts[one.name.value]++}] = &one;
  return result;
}

void compareRanks(const Trace& trace, std::vector<HostRank>& ranks) {
  std::vector<NumberedExchanges> exchanges;
  for (HostRank& rank : ranks) exchanges.push_back(numberedCollectives(trace, rank));
  compareExchanges(exchanges);
}

void writeCollectives(const Trace& trace, const Window& window, const HostRank& rank, TempTable& table) {
  std::map<std::uint32_t, std::pair<std::int64_t, TimeNs>> sums;
  for (const HostCollective& one : rank.collectives) {
    if (!beginsWithin(window, one)) continue;
    auto& [count, total_ns] = sums[one.name.value];
    ++count;
    total_ns += one.time.end_ns - one.time.start_ns;
  }
  for (const auto& [id, sum] : sums) {
    const std::string name = trace.string(StringId{id});
    table.row({"cpu", static_cast<std::int64_t>(rank.rank), collectiveOf(name), name, SqlValue(), sum.first,
               sum.second, std::int64_t{0}, std::int64_t{0}, SqlValue(), SqlValue()});
  }
}

void writeRank(const Window& window, const HostRank& rank, TempTable& table) {
  Intervals communication, waits;
  std::int64_t compared = 0, last = 0;
  TimeNs lateness_ns = 0;
  for (const HostCollective& one : rank.collectives) {
    addInterval(communication, one.time);
    if (one.wait_ns < 0 || !beginsWithin(window, one)) continue;
    ++compared;
    last += one.is_last ? 1 : 0;
    lateness_ns += one.late_ns;
    addInterval(waits, {one.time.start_ns, one.time.start_ns + one.wait_ns});
  }
  communication = united(std::move(communication));
  const TimeNs exposed = coveredWithin(window, subtract(communication, rank.computation));
  const TimeNs exposed_wait = coveredWithin(window, subtract(united(std::move(waits)), rank.computation));
  const bool any = compared > 0;
  const auto n = static_cast<double>(std::max<std::int64_t>(1, compared));
  table.row({static_cast<std::int64_t>(rank.rank), "cpu", window.length_ns,
             coveredWithin(window, rank.computation), coveredWithin(window, communication), exposed,
             known(any, static_cast<double>(lateness_ns) / n), known(any, static_cast<double>(last) / n),
             compared, known(any, static_cast<double>(exposed_wait))});
}

}  // namespace

Status addHostRanks(Trace& trace, const Context& context, TempTable& collectives, TempTable& table) {
  if (!context.devices.all.empty()) return {};
  std::vector<HostRank> ranks;
  for (const ProcessId process : processesThatExchange(trace, context.activity)) {
    HostRank rank{.process = process,
                  .rank = trace.processes()[process.value - 1].rank,
                  .collectives = {},
                  .computation = {}};
    PITWALL_TRY(addCollectives(trace, context, rank));
    PITWALL_TRY(addComputation(trace, context, rank));
    ranks.push_back(std::move(rank));
  }
  if (ranks.empty()) return {};
  std::ranges::stable_sort(ranks, {}, &HostRank::rank);
  compareRanks(trace, ranks);
  const Window window = windowOf(context.devices, context.iterations.all);
  for (const HostRank& rank : ranks) {
    writeCollectives(trace, window, rank, collectives);
    writeRank(window, rank, table);
  }
  return {};
}

}  // namespace pitwall::analysis
