// Key-value stores: what their operators cost each rank and key, and which rank the others wait for.
//
// Communication of a key is hidden while an operator of another kind runs in the same process, and exposed otherwise. Exchanges of two ranks
// are compared by operator and key (exchanges.h); an exchange starts on a rank when its data is there.
//
// Kept are the store's operators and, united, the time of all others.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/exchanges.h"
#include "analyzer/analysis/store_operators.h"
#include "analyzer/analysis/temp_table.h"
#include "analyzer/analysis/window.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kStoreKeyColumns[] = {
    {"rank", kInteger, "number", "rank of the process, from 0"},
    {"process", kInteger, "id", "process number in the trace"},
    {"key", kText, "", "key of the store"},
    {"operator", kText, "", "'KVStoreDistAllReduce', 'KVStoreDistPush', 'KVStoreReduce', ..."},
    {"implementation", kText, "", "devices and threads: '2 arrays to cpu/0, 2 threads'"},
    {"count", kInteger, "count", "executions"},
    {"total_ns", kInteger, "ns", "sum of the durations, from the moment when the data is there"},
    {"bytes", kInteger, "bytes", "of one execution: what it writes"},
    {"hidden_ns", kInteger, "ns", "part of total_ns in which operators of other kinds run"},
    {"exposed_ns", kInteger, "ns", "rest of total_ns"},
    {"wait_ns", kReal, "ns",
     "part of total_ns until the data of the last rank was there; null = no exchange was compared"},
    {"last_share", kReal, "0..1",
     "of the compared exchanges: those for which this rank was last; null = none"},
};
constexpr Column kStoreRankColumns[] = {
    {"rank", kInteger, "number", "rank of the process, from 0"},
    {"process", kInteger, "id", "process number in the trace"},
    {"span_ns", kInteger, "ns", "length of the report's window"},
    {"computation_ns", kInteger, "ns", "operators of other kinds run"},
    {"communication_ns", kInteger, "ns", "operators of stores run"},
    {"hidden_ns", kInteger, "ns", "part of communication_ns in which operators of other kinds run"},
    {"exposed_ns", kInteger, "ns", "rest of communication_ns"},
    {"exchanges", kInteger, "count", "between processes"},
    {"exchange_bytes", kInteger, "bytes", "sum over these"},
    {"exchanges_compared", kInteger, "count", "exchanges that are the same on all ranks"},
    {"last_share", kReal, "0..1",
     "of the compared exchanges: those for which this rank was last; null = none"},
    {"lateness_mean_ns", kReal, "ns",
     "how long after the first rank's data its own was there: mean over the compared exchanges; null = none"},
    {"wait_ns", kInteger, "ns",
     "time in which at least one compared exchange waited for the data of another rank; null = none was "
     "compared"},
    {"exposed_wait_ns", kInteger, "ns",
     "part of wait_ns in which no operator of another kind runs; null = as wait_ns"},
};

constexpr TableDeclaration kStoreKeyTable{"analysis_kvstore",
                                          "An operator of a key-value store, by key and rank, in the "
                                          "report's window: what of it computation hides.",
                                          kStoreKeyColumns};
constexpr TableDeclaration kStoreRankTable{
    "analysis_kvstore_rank",
    "A process that uses a key-value store, in the report's window: its communication, and whether others "
    "wait for "
    "it. Times of several hosts are compared after their clocks are aligned on the exchanges' ends.",
    kStoreRankColumns};

namespace {

struct StoreRun : Exchange {
  OperatorId op;
};

struct StoreProcess {
  ProcessId process;
  int rank = 0;
  std::vector<StoreRun> runs;  // in order of time
  Intervals computation;
};

bool isOfStore(const OperatorFacts& facts) { return std::string_view(facts.name).starts_with("KVStore"); }

Result<StoreProcess> gather(Trace& trace, const Context& context, ProcessId process) {
  StoreProcess result{
      .process = process, .rank = trace.processes()[process.value - 1].rank, .runs = {}, .computation = {}};
  const auto& facts = trace.operatorFacts();
  TimeChunkReader chunks(trace, context.activity, process, context.chunks.reading());
  PITWALL_TRY(chunks.each(kOperatorParts, [&](const TimeChunk& chunk) -> Result<bool> {
    for (const OperatorInterval& op : chunk.operators) {
      const bool known = op.op && op.op.value <= facts.size();
      if (known && isOfStore(facts[op.op.value - 1]))
        result.runs.push_back({{.time = {op.start_ns, op.end_ns}}, op.op});
      else if (!context.timeline.isTransfer(op.op))
        addInterval(result.computation, {op.start_ns, op.end_ns});
    }
    return true;
  }));
  result.computation = united(std::move(result.computation));
  return result;
}

// By operator and key.
NumberedExchanges numberedRuns(const Trace& trace, StoreProcess& process) {
  NumberedExchanges result;
  std::map<std::string, std::int64_t> counts;
  for (StoreRun& run : process.runs) {
    const OperatorFacts& facts = trace.operatorFacts()[run.op.value - 1];
    if (!isOfAllRanks(facts.name)) continue;
    const std::string key = std::string(facts.name) + '\n' + std::string(facts.layer);
    result[{key, counts[key]++}] = &run;
  }
  return result;
}

void compareStores(const Trace& trace, std::vector<StoreProcess>& processes) {
  std::vector<NumberedExchanges> exchanges;
  for (StoreProcess& process : processes) exchanges.push_back(numberedRuns(trace, process));
  compareExchanges(exchanges);
}

struct KeySum {
  std::int64_t count = 0, compared = 0, last = 0;
  TimeNs total_ns = 0, hidden_ns = 0, wait_ns = 0;
};

void addKeys(const Trace& trace, const Window& window, const StoreProcess& process, TempTable& table) {
  std::map<std::uint32_t, KeySum> sums;
  CoverCursor computation(process.computation);
  for (const StoreRun& run : process.runs) {
    const TimeNs hidden = computation.within(run.time.start_ns, run.time.end_ns);
    if (!beginsWithin(window, run)) continue;
    KeySum& sum = sums[run.op.value];
    ++sum.count;
    sum.total_ns += run.time.end_ns - run.time.start_ns;
    sum.hidden_ns += hidden;
    if (run.wait_ns < 0) continue;
    ++sum.compared;
    sum.wait_ns += run.wait_ns;
    sum.last += run.is_last ? 1 : 0;
  }
  for (const auto& [op, sum] : sums) {
    const OperatorFacts& facts = trace.operatorFacts()[op - 1];
    const auto compared = static_cast<double>(sum.compared);
    table.row({static_cast<std::int64_t>(process.rank), static_cast<std::int64_t>(process.process.value),
               facts.layer, facts.name, facts.implementation, sum.count, sum.total_ns, facts.bytes_written,
               sum.hidden_ns, sum.total_ns - sum.hidden_ns,
               known(sum.compared > 0, static_cast<double>(sum.wait_ns)),
               known(sum.compared > 0, static_cast<double>(sum.last) / std::max(compared, 1.0))});
  }
}

// Until the data of the last rank is there, of the runs in the window.
Intervals waitsOf(const Window& window, const StoreProcess& process) {
  Intervals waits;
  for (const StoreRun& run : process.runs)
    if (run.wait_ns > 0 && beginsWithin(window, run))
      addInterval(waits, {run.time.start_ns, run.time.start_ns + run.wait_ns});
  return united(std::move(waits));
}

struct RankSum {
  std::int64_t exchanges = 0, bytes = 0, compared = 0, last = 0;
  TimeNs lateness_ns = 0;
};

RankSum sumOf(const Trace& trace, const Window& window, const StoreProcess& process) {
  RankSum sum;
  for (const StoreRun& run : process.runs) {
    const OperatorFacts& facts = trace.operatorFacts()[run.op.value - 1];
    if (!isStoreExchange(facts.name) || !beginsWithin(window, run)) continue;
    ++sum.exchanges;
    sum.bytes += facts.bytes_written;
    if (run.wait_ns < 0) continue;
    ++sum.compared;
    sum.lateness_ns += run.late_ns;
    sum.last += run.is_last ? 1 : 0;
  }
  return sum;
}

void addRank(const Trace& trace, const Window& window, const StoreProcess& process, TempTable& table) {
  Intervals communication;
  for (const StoreRun& run : process.runs) addInterval(communication, run.time);
  communication = united(std::move(communication));
  const TimeNs total = coveredWithin(window, communication);
  const TimeNs hidden = coveredWithin(window, intersect(communication, process.computation));
  const Intervals waits = waitsOf(window, process);
  const RankSum sum = sumOf(trace, window, process);
  const bool any = sum.compared > 0;
  const auto compared = static_cast<double>(std::max<std::int64_t>(sum.compared, 1));
  table.row({static_cast<std::int64_t>(process.rank), static_cast<std::int64_t>(process.process.value),
             window.length_ns, coveredWithin(window, process.computation), total, hidden, total - hidden,
             sum.exchanges, sum.bytes, sum.compared, known(any, static_cast<double>(sum.last) / compared),
             known(any, static_cast<double>(sum.lateness_ns) / compared),
             known(any, coveredWithin(window, waits)),
             known(any, coveredWithin(window, subtract(waits, process.computation)))});
}

std::vector<ProcessId> processesWithStores(const Trace& trace, const Activity& activity) {
  const bool any = std::ranges::any_of(trace.operatorFacts(), isOfStore);
  std::set<std::uint32_t> processes;
  for (const TrackActivity& track : activity.tracks)
    if (any && track.operators > 0) processes.insert(trace.tracks()[track.id.value - 1].process.value);
  std::vector<ProcessId> result;
  for (const std::uint32_t process : processes)
    if (process != 0) result.push_back(ProcessId{process});
  return result;
}

}  // namespace

Status writeKVStore(Trace& trace, const Context& context) {
  TempTable keys(kStoreKeyTable), ranks(kStoreRankTable);
  const Window window = windowOf(context.devices, context.iterations.all);
  std::vector<StoreProcess> processes;
  for (const ProcessId process : processesWithStores(trace, context.activity)) {
    StoreProcess found = PITWALL_TRY(gather(trace, context, process));
    if (!found.runs.empty()) processes.push_back(std::move(found));
  }
  std::ranges::stable_sort(processes, {}, &StoreProcess::rank);
  compareStores(trace, processes);
  for (const StoreProcess& process : processes) {
    addKeys(trace, window, process, keys);
    addRank(trace, window, process, ranks);
  }
  PITWALL_TRY(keys.write(trace));
  return ranks.write(trace);
}

}  // namespace pitwall::analysis
