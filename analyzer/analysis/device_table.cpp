#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/temp_table.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kDeviceColumns[] = {
    {"device", kText, "", "'gpu 0'"},
    {"rank", kInteger, "number", "rank of the process that the device works for, from 0"},
    {"window", kText, "",
     "the time that is described: 'steady iterations' (where there are three or more), 'whole trace' (from "
     "the first to the last work) or 'without carried-in work'"},
    {"begin_ns", kInteger, "ns", "begin of the window, since the trace's start"},
    {"span_ns", kInteger, "ns", "length of the window"},
    {"computation_ns", kInteger, "ns", "a kernel or memset runs"},
    {"communication_ns", kInteger, "ns", "no kernel runs, but a collective does (exposed communication)"},
    {"copies_ns", kInteger, "ns", "none of those runs, but a copy does (exposed copies)"},
    {"data_wait_ns", kInteger, "ns",
     "nothing runs or is queued, and a program that it works for waits for its batch"},
    {"synchronisation_ns", kInteger, "ns",
     "nothing runs or is queued, and a thread of such a program waits for a device"},
    {"host_wait_ns", kInteger, "ns", "nothing runs or is queued for another reason"},
    {"kernel_wait_ns", kInteger, "ns", "nothing runs although the next work was launched, for at most 10 us"},
    {"idle_ns", kInteger, "ns",
     "other gaps: work that waits for another stream, or whose launch is not in the trace"},
    {"unattributed_ns", kInteger, "ns", "nothing is known to run, but the recorder lost events then"},
    {"busy_ns", kInteger, "ns", "sum of computation_ns, communication_ns and copies_ns"},
    {"all_idle_ns", kInteger, "ns",
     "sum of data_wait_ns, synchronisation_ns, host_wait_ns, kernel_wait_ns and idle_ns"},
    {"communication_total_ns", kInteger, "ns", "communication, with what computation hides"},
    {"copies_total_ns", kInteger, "ns", "copies, with what computation hides"},
    {"longest_gap_ns", kInteger, "ns", "longest time without work"},
    {"streams", kInteger, "count", "streams of the device"},
    {"kernels", kInteger, "count", "kernels in the window"},
    {"memsets", kInteger, "count", "memsets in the window"},
    {"collectives", kInteger, "count", "collectives in the window"},
    {"copies", kInteger, "count", "copies in the window"},
    {"carried_in", kInteger, "count",
     "pieces of work launched before the recording; they are left out of the window"},
    {"carried_in_ns", kInteger, "ns", "time of that work"},
};
constexpr Column kGapColumns[] = {
    {"device", kText, "", "'gpu 0'"},
    {"rank", kInteger, "number", "rank of the process that the device works for, from 0"},
    {"start_ns", kInteger, "ns", "begin, since the trace's start"},
    {"dur_ns", kInteger, "ns", "duration"},
    {"cause", kText, "",
     "the largest part of it: 'data wait', 'synchronisation', 'host wait', 'kernel wait' or 'idle'"},
    {"next", kText, "", "name of the work that ends it"},
};

constexpr TableDeclaration kDeviceTable{
    "analysis_device",
    "A device and rank: where its time goes. Each moment counts for the first of the columns from "
    "computation_ns to unattributed_ns that applies; they sum to span_ns.",
    kDeviceColumns};
constexpr TableDeclaration kGapTable{
    "analysis_gap", "A gap in the work of a device; the longest ones, at most 1000.", kGapColumns};

Status writeDevices(Trace& trace, const Context& context) {
  TempTable devices(kDeviceTable);
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
  PITWALL_TRY(devices.write(trace));
  TempTable gaps(kGapTable);
  for (const auto& gap : context.devices.gaps) {
    const auto& device = context.devices.all[gap.device];
    gaps.row({device.name, static_cast<std::int64_t>(device.rank), gap.start_ns, gap.dur_ns,
              toString(gap.cause), trace.string(gap.next)});
  }
  return gaps.write(trace);
}

}  // namespace pitwall::analysis
