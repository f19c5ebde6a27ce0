#include "analyzer/analysis/report_rows.h"

#include <map>
#include <string>
#include <string_view>

#include "db/sql_value.h"
#include "db/try.h"

namespace pitwall::analysis {
Result<std::vector<KernelRow>> kernelRows(Trace& trace) {
  const auto rows = PITWALL_TRY(trace.query(
      "SELECT name, class, sum(count) AS n, sum(total_ns) AS total, max(max_ns) FROM analysis_kernel "
      "GROUP BY name, class HAVING n > 0 ORDER BY total DESC, name"));
  TimeNs all = 0;
  for (const auto& row : rows.rows) all += integerOf(row[3]);
  std::vector<KernelRow> kernels;
  for (const auto& row : rows.rows) {
    const std::int64_t count = integerOf(row[2]);
    const TimeNs total = integerOf(row[3]);
    const double share = all > 0 ? static_cast<double>(total) / static_cast<double>(all) : 0;
    kernels.push_back(
        {textOf(row[0]), textOf(row[1]), count, total, total / count, integerOf(row[4]), share});
  }
  return kernels;
}

void countExecutions(const Trace& trace, const Activity& activity, OperatorTable& table) {
  std::map<std::string_view, std::int64_t> executions;
  for (const auto& name : activity.names) {
    if (name.kind == EventKind::operatorRun) executions[trace.string(name.name)] += name.items;
  }
  for (auto& statistics : table.rows) {
    auto& row = statistics.row;
    const auto found = executions.find(row.name);
    if (found == executions.end() || found->second <= row.count) continue;
    row.count = found->second;
    row.mean_ns = row.total_ns / row.count;
    row.p50_ns = row.p99_ns = statistics.min_ns = statistics.p10_ns = statistics.p90_ns = 0;
  }
}

}  // namespace pitwall::analysis
