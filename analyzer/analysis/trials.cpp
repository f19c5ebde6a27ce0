#include "analyzer/analysis/trials.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/batch_trials.h"
#include "analyzer/analysis/breakdown.h"
#include "analyzer/analysis/operators.h"
#include "analyzer/analysis/temp_table.h"
#include "analyzer/analysis/thread_curve.h"
#include "analyzer/analysis/time_chunk_pass.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kThreadTrialColumns[] = {
    {"threads", kInteger, "count", "OpenMP threads"},
    {"iteration_ns", kReal, "ns", "median of the steady iterations; of several trials the fastest"},
};
constexpr TableDeclaration kThreadTrialTable{
    "analysis_thread_trial",
    "A number of OpenMP threads that was tried, with the time of an iteration: of the trace itself, its meta "
    "keys probe.openmp_threads.N and the traces of --trial.",
    kThreadTrialColumns};
constexpr TableDeclaration kThreadTrialView{
    "analysis_probe", "The former name of analysis_thread_trial: a view, available for one version.",
    kThreadTrialColumns};

namespace {

using ThreadTrials = std::map<std::int64_t, double>;  // ns by number of threads

void add(ThreadTrials& trials, std::int64_t threads, double iteration_ns) {
  if (threads < 1 || !(iteration_ns > 0)) return;
  const auto [entry, is_new] = trials.try_emplace(threads, iteration_ns);
  if (!is_new) entry->second = std::min(entry->second, iteration_ns);
}

std::int64_t numberIn(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::int64_t threadsOf(const Trace& trace) { return numberIn(trace.meta(meta::kOpenMpThreads).value_or("")); }

Status addMeta(Trace& trace, ThreadTrials& trials) {
  const auto rows = PITWALL_TRY(trace.query(fmt::format("SELECT key, value FROM meta WHERE key LIKE '{}%'",
                                                        static_cast<const char*>(meta::kThreadTrialPrefix))));
  constexpr std::size_t kPrefix = sizeof(meta::kThreadTrialPrefix) - 1;
  for (const auto& row : rows.rows) {
    const auto* key = std::get_if<std::string>(&row[0]);
    const auto* value = std::get_if<std::string>(&row[1]);
    if (key != nullptr && value != nullptr)
      add(trials, numberIn(std::string_view(*key).substr(kPrefix)), std::strtod(value->c_str(), nullptr));
  }
  return {};
}

// Of a trace with another batch size.
Result<BatchTrial> batchTrialOf(Trace& trace, std::int64_t batch, const Iterations& iterations,
                                const Breakdown& breakdown, TimeChunkReader& chunks) {
  OperatorSums sums(iterations.all, trace.operatorFacts().size());
  auto status = chunks.each(kOperatorParts, [&](const TimeChunk& chunk) {
    sums.add(chunk.operators);
    return Result<bool>(true);
  });
  PITWALL_TRY(status);
  std::vector<OperatorRow> rows;
  for (const auto& statistics : sums.table(trace.operatorFacts()).rows) rows.push_back(statistics.row);
  return batchTrial(batch, breakdown, rows);
}

// The trials so far; the first batch is that of the analysed trace.
struct Trials {
  ThreadTrials& threads;
  std::vector<BatchTrial>& batches;
};

Status addTrial(const AnalyzeOptions::Trial& trial, const Trace& analyzed, const Timeline& timeline,
                const Reading& reading, const Trials& trials, Report& report) {
  Trace& trace = *trial.trace;
  auto activity = PITWALL_TRY(gatherActivity(trace, reading));
  const Timeline other = timelineOf(trace, activity);
  const auto leave = [&](const std::string& why) {
    report.notes.push_back(fmt::format("The trial {} is left out: {}.", trial.name, why));
    return Status{};
  };
  if (other.process_name != timeline.process_name)
    return leave(fmt::format("it is of '{}', not of '{}'", other.process_name, timeline.process_name));
  TimeChunkReader chunks(trace, activity, other.process, reading);
  const auto iterations = PITWALL_TRY(iterationsOf(trace, other, chunks));
  if (iterations.source == "whole trace") return leave("it has no iterations to compare");
  const auto times = PITWALL_TRY(categoriesOf(trace, other, iterations, chunks));
  const auto breakdown = summarizeBreakdown(iterations, times);
  const std::int64_t batch = batchOf(trace, iterations);
  const std::int64_t own_batch = trials.batches.empty() ? 0 : trials.batches.front().batch;
  if (own_batch > 0 && batch > 0 && batch != own_batch) {
    if (threadsOf(trace) != threadsOf(analyzed))
      return leave("its batch size and its number of OpenMP threads both differ");
    auto added = PITWALL_TRY(batchTrialOf(trace, batch, iterations, breakdown, chunks));
    trials.batches.push_back(std::move(added));
    return {};
  }
  if (threadsOf(trace) < 1) return leave("its number of OpenMP threads is unknown");
  add(trials.threads, threadsOf(trace), static_cast<double>(breakdown.median_iteration_ns));
  return {};
}

}  // namespace

Status writeTrials(Trace& trace, const Timeline& timeline, const Iterations& iterations,
                   const std::vector<AnalyzeOptions::Trial>& trials, const Reading& reading, Report& report) {
  ThreadTrials thread_trials;
  std::vector<BatchTrial> batches;
  PITWALL_TRY(addMeta(trace, thread_trials));
  if (const std::int64_t batch = batchOf(trace, iterations); batch > 0)
    batches.push_back(batchTrial(batch, report.breakdown, report.operators));
  for (const auto& trial : trials) {
    PITWALL_TRY(addTrial(trial, trace, timeline, reading, {thread_trials, batches}, report));
  }
  PITWALL_TRY(writeBatchTimes(trace, batchTimes(std::move(batches))));
  if (report.breakdown.iteration_source != "whole trace")
    add(thread_trials, threadsOf(trace), static_cast<double>(report.breakdown.median_iteration_ns));
  TempTable table(kThreadTrialTable);
  std::vector<ThreadTrial> tried;
  for (const auto& [threads, ns] : thread_trials) table.row({threads, ns}), tried.push_back({threads, ns});
  PITWALL_TRY(table.write(trace));
  PITWALL_TRY(writeThreadCurve(trace, tried));
  // The former name, for one version.
  PITWALL_TRY(
      trace.query(fmt::format("DROP VIEW IF EXISTS temp.{0}; CREATE TEMP VIEW {0} AS SELECT * FROM {1}",
                              kThreadTrialView.name, kThreadTrialTable.name)));
  return {};
}

}  // namespace pitwall::analysis
