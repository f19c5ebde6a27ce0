#include "analyzer/analysis/analysis_tables.h"

namespace pitwall::analysis {

const char* toString(ColumnType type) {
  switch (type) {
    case ColumnType::integer: return "INTEGER";
    case ColumnType::real: return "REAL";
    case ColumnType::text: return "TEXT";
    case ColumnType::any: return "any";
  }
  return "any";
}

std::string columnsInSql(const TableDeclaration& table) {
  std::string sql;
  for (const Column& column : table.columns) {
    if (!sql.empty()) sql += ", ";
    sql += column.name;
    if (column.type != ColumnType::any) sql.append(" ").append(toString(column.type));
  }
  return sql;
}

std::span<const TableDeclaration* const> analysisTables() {
  static constexpr const TableDeclaration* kTables[] = {
      &kSummaryTable,    &kFactTable,        &kCoverageTable,   &kIterationTable,    &kBreakdownTable,
      &kOperatorTable,   &kFollowsTable,     &kHostGapTable,    &kOutlierTable,      &kDataTable,
      &kDataRangeTable,  &kDataWorkTable,    &kCriticalTable,   &kCriticalStepTable, &kCriticalPathTable,
      &kSimulationTable, &kDeviceTable,      &kGapTable,        &kKernelTable,       &kLaunchTable,
      &kCopyTable,       &kCallTable,        &kNameTable,       &kRankTable,         &kCollectiveTable,
      &kThreadsTable,    &kThreadTable,      &kCounterTable,    &kMemoryTable,       &kHostTable,
      &kProcessTable,    &kWaitTable,        &kCodeTable,       &kStartupTable,      &kSettingTable,
      &kTunableTable,    &kThreadTrialTable, &kThreadTrialView, &kThreadCurveTable,  &kBatchTable};
  return kTables;
}

}  // namespace pitwall::analysis
