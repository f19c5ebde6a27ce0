#include "analyzer/analysis/tables.h"

#include <string>

#include "analyzer/analysis/setting_table.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {
namespace {

using Rows = std::vector<std::vector<SqlValue>>;

Status fill(Trace& trace, const std::string& table, const std::string& columns, const Rows& rows) {
  auto dropped = trace.query("DROP TABLE IF EXISTS temp." + table);
  if (!dropped.has_value()) return fail(dropped.error());
  auto created = trace.query("CREATE TEMP TABLE " + table + " (" + columns + ")");
  if (!created.has_value()) return fail(created.error());
  return trace.insertTemp(table, rows);
}

// Some thousand rows at a time: a long trace has many iterations.
Status writeIterations(Trace& trace, const Tables& tables) {
  constexpr std::size_t kRowsAtOnce = 4096;
  if (auto status = fill(
          trace, "analysis_iteration",
          "iteration INTEGER, role TEXT, is_outlier INTEGER, start_ns INTEGER, dur_ns INTEGER, items "
          "INTEGER, forward_ns "
          "INTEGER, "
          "backward_ns INTEGER, update_ns INTEGER, other_operators_ns INTEGER, communication_ns INTEGER, "
          "data_wait_ns INTEGER, engine_overhead_ns INTEGER, idle_ns INTEGER, unattributed_ns INTEGER",
          {});
      !status.has_value()) {
    return status;
  }
  Rows rows;
  for (std::size_t i = 0; i < tables.iterations.size(); ++i) {
    const auto& iteration = tables.iterations[i];
    std::vector<SqlValue> row{iteration.index,
                              toString(iteration.role),
                              static_cast<std::int64_t>(iteration.is_outlier),
                              iteration.start_ns,
                              iteration.end_ns - iteration.start_ns,
                              iteration.items};
    row.insert(row.end(), tables.times[i].begin(), tables.times[i].end());
    rows.push_back(std::move(row));
    if (rows.size() < kRowsAtOnce && i + 1 < tables.iterations.size()) continue;
    if (auto status = trace.insertTemp("analysis_iteration", rows); !status.has_value()) return status;
    rows.clear();
  }
  return {};
}

Status writeBreakdown(Trace& trace, const Breakdown& breakdown) {
  Rows rows;
  for (const auto& share : breakdown.shares) rows.push_back({share.category, share.total_ns, share.share});
  return fill(trace, "analysis_breakdown", "category TEXT, total_ns INTEGER, share REAL", rows);
}

Status writeOperators(Trace& trace, const OperatorTable& operators) {
  Rows rows;
  for (const auto& o : operators.rows) {
    const auto& row = o.row;
    rows.push_back({static_cast<std::int64_t>(o.op.value),
                    row.title,
                    row.name,
                    row.layer,
                    row.phase,
                    row.shapes,
                    row.count,
                    row.total_ns,
                    row.mean_ns,
                    o.min_ns,
                    o.p10_ns,
                    row.p50_ns,
                    o.p90_ns,
                    row.p99_ns,
                    o.queued_mean_ns,
                    row.share,
                    o.flop,
                    o.bytes_read,
                    o.bytes_written,
                    o.dtype,
                    o.backend,
                    o.implementation,
                    row.flop_per_second,
                    row.bytes_per_second,
                    known(row.roofline_share > 0, row.roofline_share),
                    row.self_ns,
                    row.device_ns});
  }
  return fill(
      trace, "analysis_operator",
      "op INTEGER, title TEXT, name TEXT, layer TEXT, phase TEXT, shapes TEXT, count INTEGER, total_ns "
      "INTEGER, "
      "mean_ns INTEGER, min_ns INTEGER, p10_ns INTEGER, p50_ns INTEGER, p90_ns INTEGER, p99_ns INTEGER, "
      "queued_mean_ns INTEGER, share REAL, flop INTEGER, bytes_read INTEGER, bytes_written INTEGER, dtype "
      "TEXT, "
      "backend TEXT, implementation TEXT, flop_per_second REAL, bytes_per_second REAL, roof_share REAL, "
      "self_ns INTEGER, device_ns INTEGER",
      rows);
}

Status writeSettings(Trace& trace) {
  Rows rows;
  for (const auto& s : settingStates(trace)) {
    rows.push_back({s.name, s.value, s.source, s.owner, s.status, static_cast<std::int64_t>(s.in_trace),
                    static_cast<std::int64_t>(s.readable)});
  }
  if (auto status = fill(trace, "analysis_setting",
                         "name TEXT, value TEXT, source TEXT, owner TEXT, status TEXT, in_trace INTEGER, "
                         "readable INTEGER",
                         rows);
      !status.has_value()) {
    return status;
  }
  rows.clear();
  for (const auto& t : trace.tunables()) {
    rows.push_back({t.name, t.value, t.default_value, t.minimum, t.maximum, toString(t.source)});
  }
  return fill(
      trace, "analysis_tunable",
      "name TEXT, value INTEGER, default_value INTEGER, minimum INTEGER, maximum INTEGER, source TEXT", rows);
}

Status writeFacts(Trace& trace, std::span<const Fact> facts) {
  Rows rows;
  std::vector<SqlValue> summary;
  std::string columns;
  for (const auto& fact : facts) {
    rows.push_back({fact.key, fact.value});
    summary.push_back(fact.value);
    columns += (columns.empty() ? "" : ", ") + fact.key;
  }
  if (auto status = fill(trace, "analysis_fact", "key TEXT, value", rows); !status.has_value()) return status;
  return fill(trace, "analysis_summary", columns, {summary});
}

}  // namespace

Status writeTables(Trace& trace, const Tables& tables) {
  if (auto status = writeIterations(trace, tables); !status.has_value()) return status;
  if (auto status = writeBreakdown(trace, tables.breakdown); !status.has_value()) return status;
  if (auto status = writeOperators(trace, tables.operators); !status.has_value()) return status;
  if (auto status = writeSettings(trace); !status.has_value()) return status;
  return writeFacts(trace, tables.facts);
}

}  // namespace pitwall::analysis
