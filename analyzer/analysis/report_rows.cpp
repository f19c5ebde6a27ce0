#include "analyzer/analysis/report_rows.h"

#include <map>
#include <string>
#include <string_view>

#include "db/try.h"

namespace pitwall::analysis {
namespace {

std::int64_t integer(const SqlValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number == nullptr ? 0 : *number;
}

std::string text(const SqlValue& value) {
  const auto* found = std::get_if<std::string>(&value);
  return found == nullptr ? std::string() : *found;
}

}  // namespace

Result<std::vector<KernelRow>> kernelRows(Trace& trace) {
  const auto rows = PITWALL_TRY(trace.query(
      "SELECT name, class, sum(count) AS n, sum(total_ns) AS total, max(max_ns) FROM analysis_kernel "
      "GROUP BY name, class HAVING n > 0 ORDER BY total DESC, name"));
  TimeNs all = 0;
  for (const auto& row : rows.rows) all += integer(row[3]);
  std::vector<KernelRow> kernels;
  for (const auto& row : rows.rows) {
    const std::int64_t count = integer(row[2]);
    const TimeNs total = integer(row[3]);
    const double share = all > 0 ? static_cast<double>(total) / static_cast<double>(all) : 0;
    kernels.push_back({text(row[0]), text(row[1]), count, total, total / count, integer(row[4]), share});
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
