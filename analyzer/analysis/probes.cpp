#include "analyzer/analysis/probes.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/batch_probes.h"
#include "analyzer/analysis/breakdown.h"
#include "analyzer/analysis/operators.h"
#include "analyzer/analysis/slice_pass.h"
#include "analyzer/analysis/temp_table.h"
#include "db/meta.h"

namespace pitwall::analysis {
namespace {

using Probes = std::map<std::int64_t, double>;  // ns by number of threads

void add(Probes& probes, std::int64_t threads, double iteration_ns) {
  if (threads < 1 || !(iteration_ns > 0)) return;
  const auto [entry, is_new] = probes.try_emplace(threads, iteration_ns);
  if (!is_new) entry->second = std::min(entry->second, iteration_ns);
}

std::int64_t numberIn(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::int64_t threadsOf(const Trace& trace) { return numberIn(trace.meta(meta::kOpenMpThreads).value_or("")); }

Status addMeta(Trace& trace, Probes& probes) {
  const auto rows = trace.query(fmt::format("SELECT key, value FROM meta WHERE key LIKE '{}%'",
                                            static_cast<const char*>(meta::kThreadTrialPrefix)));
  if (!rows.has_value()) return fail(rows.error());
  constexpr std::size_t kPrefix = sizeof(meta::kThreadTrialPrefix) - 1;
  for (const auto& row : rows.value().rows) {
    const auto* key = std::get_if<std::string>(&row[0]);
    const auto* value = std::get_if<std::string>(&row[1]);
    if (key != nullptr && value != nullptr)
      add(probes, numberIn(std::string_view(*key).substr(kPrefix)), std::strtod(value->c_str(), nullptr));
  }
  return {};
}

// Of a trace with another batch size.
Result<BatchTrial> batchTrialOf(Trace& trace, std::int64_t batch, const Iterations& iterations,
                                const Breakdown& breakdown, SliceReader& slices) {
  OperatorSums sums(iterations.all, trace.operatorFacts().size());
  auto status = slices.each(kOperatorParts, [&](const Slice& slice) {
    sums.add(slice.operators);
    return Result<bool>(true);
  });
  if (!status.has_value()) return fail(status.error());
  std::vector<OperatorRow> rows;
  for (const auto& statistics : sums.table(trace.operatorFacts()).rows) rows.push_back(statistics.row);
  return batchTrial(batch, breakdown, rows);
}

// What has been tried: the first batch is that of the trace at hand.
struct Tried {
  Probes& probes;
  std::vector<BatchTrial>& batches;
};

Status addTrial(const AnalyzeOptions::Trial& trial, const Trace& at_hand, const Timeline& timeline,
                const Reading& reading, const Tried& tried, Report& report) {
  Trace& trace = *trial.trace;
  auto activity = gatherActivity(trace, reading);
  if (!activity.has_value()) return fail(activity.error());
  const Timeline other = timelineOf(trace, activity.value());
  const auto leave = [&](const std::string& why) {
    report.notes.push_back(fmt::format("The trial {} is left out: {}.", trial.name, why));
    return Status{};
  };
  if (other.process_name != timeline.process_name)
    return leave(fmt::format("it is of '{}', not of '{}'", other.process_name, timeline.process_name));
  SliceReader slices(trace, activity.value(), other.process, reading);
  const auto iterations = iterationsOf(trace, other, slices);
  if (!iterations.has_value()) return fail(iterations.error());
  if (iterations.value().source == "whole trace") return leave("it has no iterations to compare");
  const auto times = categoriesOf(trace, other, iterations.value(), slices);
  if (!times.has_value()) return fail(times.error());
  const auto breakdown = summarizeBreakdown(iterations.value(), times.value());
  const std::int64_t batch = batchOf(trace, iterations.value());
  const std::int64_t own_batch = tried.batches.empty() ? 0 : tried.batches.front().batch;
  if (own_batch > 0 && batch > 0 && batch != own_batch) {
    if (threadsOf(trace) != threadsOf(at_hand))
      return leave("its batch size and its number of OpenMP threads both differ");
    auto added = batchTrialOf(trace, batch, iterations.value(), breakdown, slices);
    if (!added.has_value()) return fail(added.error());
    tried.batches.push_back(std::move(added).value());
    return {};
  }
  if (threadsOf(trace) < 1) return leave("it does not tell its number of OpenMP threads");
  add(tried.probes, threadsOf(trace), static_cast<double>(breakdown.median_iteration_ns));
  return {};
}

}  // namespace

Status writeProbes(Trace& trace, const Timeline& timeline, const Iterations& iterations,
                   const std::vector<AnalyzeOptions::Trial>& trials, const Reading& reading, Report& report) {
  Probes probes;
  std::vector<BatchTrial> batches;
  if (auto status = addMeta(trace, probes); !status.has_value()) return status;
  if (const std::int64_t batch = batchOf(trace, iterations); batch > 0)
    batches.push_back(batchTrial(batch, report.breakdown, report.operators));
  for (const auto& trial : trials) {
    if (auto status = addTrial(trial, trace, timeline, reading, {probes, batches}, report);
        !status.has_value())
      return status;
  }
  if (auto status = writeBatchTimes(trace, batchTimes(std::move(batches))); !status.has_value())
    return status;
  if (report.breakdown.iteration_source != "whole trace")
    add(probes, threadsOf(trace), static_cast<double>(report.breakdown.median_iteration_ns));
  TempTable table("analysis_probe", "threads INTEGER, iteration_ns REAL");
  for (const auto& [threads, ns] : probes) table.row({threads, ns});
  return table.write(trace);
}

}  // namespace pitwall::analysis
