#include "analyzer/analysis/tables.h"

#include <utility>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/setting_table.h"
#include "analyzer/analysis/temp_table.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kIterationColumns[] = {
    {"iteration", kInteger, "number", "index, as the program counts it"},
    {"role", kText, "", "'steady', 'warm-up', 'last' or 'outlier'; sums are of the steady ones"},
    {"is_outlier", kInteger, "0 or 1",
     "1 = far from the median; outliers that take much of the time stay steady"},
    {"start_ns", kInteger, "ns", "begin, since the trace's start"},
    {"dur_ns", kInteger, "ns", "duration"},
    {"items", kInteger, "count", "samples that it processes; 0 = unknown"},
    {"forward_ns", kInteger, "ns", "an operator of the forward pass runs"},
    {"backward_ns", kInteger, "ns", "none of those runs, but one of the backward pass"},
    {"update_ns", kInteger, "ns", "none of those runs, but one that updates parameters"},
    {"other_operators_ns", kInteger, "ns", "none of those runs, but another operator"},
    {"communication_ns", kInteger, "ns", "no operator runs but one that moves data between devices"},
    {"data_wait_ns", kInteger, "ns", "no operator runs and the training thread waits for its next batch"},
    {"engine_overhead_ns", kInteger, "ns", "no operator runs although one is queued, or the program waits"},
    {"idle_ns", kInteger, "ns", "nothing runs, nothing is queued and no thread waits"},
    {"unattributed_ns", kInteger, "ns", "time that the trace cannot explain"},
};
constexpr Column kBreakdownColumns[] = {
    {"category", kText, "",
     "'forward', 'backward', 'update', 'other operators', 'communication', 'data wait', 'engine overhead', "
     "'idle', 'unattributed'; of devices: 'computation', 'communication', 'copies', 'data wait', "
     "'synchronisation', 'host wait', 'kernel wait', 'idle', 'unattributed'"},
    {"total_ns", kInteger, "ns", "time of the category; of devices, the sum over all of them"},
    {"share", kReal, "0..1", "of the wall time; of devices, of the sum of their windows"},
};
constexpr Column kOperatorColumns[] = {
    {"op", kInteger, "id", "of its facts in the table operator; 0 = none"},
    {"title", kText, "", "layer and type, for people"},
    {"name", kText, "", "type of the operator"},
    {"layer", kText, "", "layer that it belongs to; may be empty"},
    {"phase", kText, "", "'forward', 'backward', 'update', 'data' or 'none'"},
    {"shapes", kText, "", "shapes of its arrays; may be empty"},
    {"count", kInteger, "count", "executions"},
    {"total_ns", kInteger, "ns", "sum of the durations"},
    {"mean_ns", kInteger, "ns", "mean duration"},
    {"min_ns", kInteger, "ns", "shortest duration"},
    {"p10_ns", kInteger, "ns", "duration that 10 % do not exceed"},
    {"p50_ns", kInteger, "ns", "median duration"},
    {"p90_ns", kInteger, "ns", "duration that 90 % do not exceed"},
    {"p99_ns", kInteger, "ns", "duration that 99 % do not exceed"},
    {"queued_mean_ns", kInteger, "ns", "mean time between being pushed to the engine and starting"},
    {"share", kReal, "0..1", "of the self_ns of all operators"},
    {"flop", kInteger, "FLOP", "of one execution; 0 = unknown"},
    {"bytes_read", kInteger, "bytes", "of one execution; 0 = unknown"},
    {"bytes_written", kInteger, "bytes", "of one execution; 0 = unknown"},
    {"dtype", kText, "", "type of the numbers, as the library reports it; may be empty"},
    {"backend", kText, "", "library that runs it, as it reports itself; may be empty"},
    {"implementation", kText, "", "variant, as the library reports it; may be empty"},
    {"flop_per_second", kReal, "FLOP/s",
     "rate of arithmetic, in device_ns where there is any, else in total_ns; 0 = unknown"},
    {"bytes_per_second", kReal, "bytes/s", "rate of memory traffic, in the same time; 0 = unknown"},
    {"roof_share", kReal, "ratio",
     "the larger of both rates against the machine's roofline (`pitwall env --calibrate`); null = not known"},
    {"self_ns", kInteger, "ns", "total_ns without operators that run within it on the same thread"},
    {"device_ns", kInteger, "ns", "device work that it launched itself, not an operator within it; total"},
};
constexpr Column kSettingColumns[] = {
    {"name", kText, "", "as its owner spells it"},
    {"value", kText, "", "value in effect"},
    {"source", kText, "", "'default', 'environment' or 'program'"},
    {"owner", kText, "",
     "program or library that reads it, as in the catalogue; empty = not in the catalogue"},
    {"status", kText, "",
     "'honoured', 'external', 'planned' or 'not applicable', as in the catalogue; empty = not in it"},
    {"in_trace", kInteger, "0 or 1", "1 = the recorded program reported it"},
    {"readable", kInteger, "0 or 1",
     "1 = the recorded program reads it: honoured by its runtime and reported, or read by a library that it "
     "has loaded"},
};
constexpr Column kTunableColumns[] = {
    {"name", kText, "", "as the program declared it; PITWALL_TUNE_NAME sets it"},
    {"value", kInteger, "number", "value in effect"},
    {"default_value", kInteger, "number", "value without a setting"},
    {"minimum", kInteger, "number", "least value that the program accepts"},
    {"maximum", kInteger, "number", "greatest value that the program accepts"},
    {"source", kText, "", "'default', 'environment' or 'program'"},
};

constexpr TableDeclaration kIterationTable{
    "analysis_iteration",
    "An iteration. The columns from forward_ns to unattributed_ns say where dur_ns went; they sum to it. "
    "Each moment counts for one of them.",
    kIterationColumns};
constexpr TableDeclaration kBreakdownTable{
    "analysis_breakdown",
    "A category of the time in the report's window: the steady iterations, all of them when none is steady. "
    "The categories sum to the wall time. Of a trace with device work, a part of the devices' time.",
    kBreakdownColumns};
constexpr TableDeclaration kOperatorTable{"analysis_operator",
                                          "A distinct operator (type, layer, shapes, phase), with its "
                                          "executions in steady iterations; in all when none is steady. "
                                          "Exchanges between processes are in analysis_kvstore.",
                                          kOperatorColumns};
constexpr TableDeclaration kSettingTable{
    "analysis_setting", "A setting of the catalogue, or one that only the trace names.", kSettingColumns};
constexpr TableDeclaration kTunableTable{"analysis_tunable", "A tunable that the program declared.",
                                         kTunableColumns};

namespace {

// Some thousand rows at a time: a long trace has many iterations.
Status writeIterations(Trace& trace, const Tables& tables) {
  constexpr std::size_t kRowsAtOnce = 4096;
  TempTable table(kIterationTable);
  PITWALL_TRY(table.write(trace));
  for (std::size_t i = 0; i < tables.iterations.size(); ++i) {
    const auto& iteration = tables.iterations[i];
    std::vector<SqlValue> row{iteration.index,
                              toString(iteration.role),
                              static_cast<std::int64_t>(iteration.is_outlier),
                              iteration.start_ns,
                              iteration.end_ns - iteration.start_ns,
                              iteration.items};
    row.insert(row.end(), tables.times[i].begin(), tables.times[i].end());
    table.row(std::move(row));
    if (table.rows() < kRowsAtOnce) continue;
    PITWALL_TRY(table.append(trace));
  }
  return table.append(trace);
}

Status writeBreakdown(Trace& trace, const Breakdown& breakdown) {
  TempTable table(kBreakdownTable);
  for (const auto& share : breakdown.shares) table.row({share.category, share.total_ns, share.share});
  return table.write(trace);
}

Status writeOperators(Trace& trace, const OperatorTable& operators) {
  TempTable table(kOperatorTable);
  for (const auto& o : operators.rows) {
    const auto& row = o.row;
    table.row({static_cast<std::int64_t>(o.op.value),
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
  return table.write(trace);
}

Status writeSettings(Trace& trace) {
  TempTable table(kSettingTable);
  for (const auto& s : settingStates(trace)) {
    table.row({s.name, s.value, s.source, s.owner, s.status, static_cast<std::int64_t>(s.in_trace),
               static_cast<std::int64_t>(s.readable)});
  }
  return table.write(trace);
}

Status writeTunables(Trace& trace) {
  TempTable table(kTunableTable);
  for (const auto& t : trace.tunables())
    table.row({t.name, t.value, t.default_value, t.minimum, t.maximum, toString(t.source)});
  return table.write(trace);
}

}  // namespace

Status writeTables(Trace& trace, const Tables& tables) {
  PITWALL_TRY(writeIterations(trace, tables));
  PITWALL_TRY(writeBreakdown(trace, tables.breakdown));
  PITWALL_TRY(writeOperators(trace, tables.operators));
  PITWALL_TRY(writeSettings(trace));
  PITWALL_TRY(writeTunables(trace));
  return writeFacts(trace, tables.facts);
}

}  // namespace pitwall::analysis
