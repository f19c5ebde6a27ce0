// The values of one trace that a comparison needs, from the tables of its analyses.
#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "analyzer/analysis/job_ranks.h"
#include "analyzer/compare.h"
#include "analyzer/compare/run_variables.h"
#include "db/meta.h"
#include "db/sql_value.h"
#include "db/try.h"

namespace pitwall {
namespace {

// Of iterations that are several repetitions, one repetition: the other trace may group another number.
Status readIterations(Trace& trace, Measured& measured) {
  auto rows = PITWALL_TRY(trace.query(
      "SELECT 1.0 * dur_ns / repetitions_per_iteration, 1.0 * items / repetitions_per_iteration, "
      "repetitions_per_iteration FROM analysis_iteration, analysis_summary WHERE role = 'steady' AND NOT "
      "is_outlier "
      "ORDER BY start_ns"));
  double items = 0;
  for (const auto& row : rows.rows) {
    measured.iterations_ns.push_back(realOf(row[0]));
    items += realOf(row[1]);
  }
  if (!rows.rows.empty())
    measured.steady_iterations *= static_cast<std::int64_t>(realOf(rows.rows.front()[2]));
  const auto count = measured.iterations_ns.size();
  if (count > 0) measured.items_per_iteration = items / static_cast<double>(count);
  auto all = PITWALL_TRY(trace.query(
      "SELECT sum(is_outlier), avg(1.0 * dur_ns / repetitions_per_iteration) FROM analysis_iteration, "
      "analysis_summary WHERE role IN ('steady', 'outlier')"));
  measured.outliers = static_cast<std::int64_t>(realOf(all.rows.front()[0]));
  measured.mean_with_outliers_ns = realOf(all.rows.front()[1]);
  return {};
}

// Of nested operators only the one whose self time changed is to be named.
Status readWork(Trace& trace, Measured& measured) {
  auto rows = PITWALL_TRY(trace.query(
      "SELECT trim(title || CASE phase WHEN 'none' THEN '' ELSE ' ' || phase END), shapes, count, self_ns "
      "FROM analysis_operator UNION ALL SELECT name, '', count, total_ns FROM analysis_kernel"));
  for (const auto& row : rows.rows) {
    const std::string operation = textOf(row[0]), shapes = textOf(row[1]);
    auto& work = measured.work[shapes.empty() ? operation : operation + " " + shapes];
    work.count += static_cast<std::int64_t>(realOf(row[2]));
    work.total_ns += realOf(row[3]);
    work.operation = operation;
    work.shapes = shapes;
  }
  return {};
}

Status readSettings(Trace& trace, Measured& measured) {
  constexpr std::string_view kEnvironment = meta::kEnvironmentPrefix;
  // A variable that is a known setting is there as that.
  auto rows = PITWALL_TRY(trace.query(
      "SELECT name, value FROM analysis_setting WHERE in_trace = 1 "
      "UNION ALL SELECT 'PITWALL_TUNE_' || name, value FROM tunable "
      "UNION ALL SELECT key, value FROM meta WHERE key LIKE 'library.%' OR (key LIKE 'environment.%' AND "
      "substr(key, 13) NOT IN (SELECT name FROM analysis_setting WHERE in_trace = 1)) OR "
      "key IN ('runtime.engine', 'runtime.backend', 'process.openmp_runtime', 'process.openmp_threads', "
      "'process.usable_cpus', 'runtime.mode')"));
  for (const auto& row : rows.rows) {
    const std::string name = textOf(row[0]);
    std::string_view variable = name;
    if (variable.starts_with(kEnvironment)) variable.remove_prefix(kEnvironment.size());
    if (comparing::namesTheRun(variable)) continue;
    const auto* number = std::get_if<std::int64_t>(&row[1]);
    measured.settings[name] = number != nullptr ? std::to_string(*number) : textOf(row[1]);
  }
  return {};
}

}  // namespace

Result<Measured> measure(Trace& trace, const Report& report) {
  Measured measured;
  measured.path = report.trace_path;
  measured.complete = report.trace_complete;
  measured.serialised_kernels = trace.meta(meta::kSerialisedKernels).has_value();
  if (const auto start = trace.meta(meta::kTraceStartUnixNs))
    measured.start_unix_ns = std::atoll(start->c_str());
  measured.shares = report.breakdown.shares;
  measured.steady_iterations = std::max<std::int64_t>(1, report.breakdown.iterations);
  for (const DeviceInfo& device : trace.devices())
    measured.devices.push_back(device.name.empty() ? device.kind
                                                   : fmt::format("{}: {}", device.kind, device.name));
  if (const auto cpu = trace.meta(meta::kCpuModel)) {
    const std::string name = "cpu: " + *cpu;
    if (std::find(measured.devices.begin(), measured.devices.end(), name) == measured.devices.end())
      measured.devices.push_back(name);
  }
  std::sort(measured.devices.begin(), measured.devices.end());
  measured.world_size = static_cast<int>(analysis::ranksOfJob(trace));
  for (auto* read : {readIterations, readWork, readSettings}) {
    PITWALL_TRY(read(trace, measured));
  }
  // The analysis calls a trace without iterations one iteration; that is no iteration to hold another
  // against.
  const Breakdown& breakdown = report.breakdown;
  measured.device_count = breakdown.devices;
  if (breakdown.iteration_source == "whole trace" || measured.iterations_ns.empty()) {
    measured.whole_ns = measured.iterations_ns.empty()
                            ? static_cast<double>(breakdown.wall_ns) / std::max(1, breakdown.devices)
                            : measured.iterations_ns.front();
    measured.iterations_ns.clear();
    measured.items_per_iteration = 0;
    measured.steady_iterations = 1;
  }
  return measured;
}

}  // namespace pitwall
