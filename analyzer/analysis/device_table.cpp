#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {

SqlValue known(bool is_known, double value) {
  SqlValue result;
  if (is_known) result = value;
  return result;
}

SqlValue known(bool is_known, std::int64_t value) {
  SqlValue result;
  if (is_known) result = value;
  return result;
}

Status writeDevices(Trace& trace, const Context& context) {
  TempTable devices(
      "analysis_device",
      "device TEXT, rank INTEGER, window TEXT, begin_ns INTEGER, span_ns INTEGER, computation_ns INTEGER, "
      "communication_ns INTEGER, copies_ns INTEGER, data_wait_ns INTEGER, synchronisation_ns INTEGER, "
      "host_wait_ns INTEGER, kernel_wait_ns INTEGER, idle_ns INTEGER, unattributed_ns INTEGER, busy_ns "
      "INTEGER, all_idle_ns INTEGER, "
      "communication_total_ns INTEGER, copies_total_ns INTEGER, longest_gap_ns INTEGER, streams INTEGER, "
      "kernels INTEGER, memsets INTEGER, collectives INTEGER, copies INTEGER, carried_in INTEGER, "
      "carried_in_ns INTEGER");
  for (const auto& d : context.devices.all) {
    std::vector<SqlValue> row{d.name, static_cast<std::int64_t>(d.rank), d.window, d.begin_ns,
                              d.end_ns - d.begin_ns};
    row.insert(row.end(), d.parts.begin(), d.parts.end());
    for (const std::int64_t value :
         {d.unattributed_ns, d.busy_ns, d.idle_ns, d.communication_ns, d.copy_ns, d.longest_gap_ns, d.streams,
          d.kernels, d.memsets, d.collectives, d.copies, d.carried_in, d.carried_in_ns}) {
      row.emplace_back(value);
    }
    devices.row(std::move(row));
  }
  if (auto status = devices.write(trace); !status.has_value()) return status;
  TempTable gaps("analysis_gap",
                 "device TEXT, rank INTEGER, start_ns INTEGER, dur_ns INTEGER, cause TEXT, next TEXT");
  for (const auto& gap : context.devices.gaps) {
    const auto& device = context.devices.all[gap.device];
    gaps.row({device.name, static_cast<std::int64_t>(device.rank), gap.start_ns, gap.dur_ns,
              toString(gap.cause), trace.string(gap.next)});
  }
  return gaps.write(trace);
}

}  // namespace pitwall::analysis
