#include "analyzer/analysis/analysis_tables.h"

#include <utility>

#include "analyzer/analysis.h"

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
      &kSummaryTable,    &kFactTable,        &kCoverageTable, &kIterationTable,    &kBreakdownTable,
      &kOperatorTable,   &kFollowsTable,     &kHostGapTable,  &kOutlierTable,      &kDataTable,
      &kDataRangeTable,  &kDataWorkTable,    &kCriticalTable, &kCriticalStepTable, &kCriticalPathTable,
      &kSimulationTable, &kDeviceTable,      &kGapTable,      &kKernelTable,       &kLaunchTable,
      &kCopyTable,       &kCallTable,        &kNameTable,     &kRankTable,         &kCollectiveTable,
      &kStoreKeyTable,   &kStoreRankTable,   &kThreadsTable,  &kThreadTable,       &kCounterTable,
      &kMemoryTable,     &kHostTable,        &kProcessTable,  &kWaitTable,         &kCodeTable,
      &kNativeTable,     &kStartupTable,     &kSettingTable,  &kTunableTable,      &kThreadTrialTable,
      &kThreadTrialView, &kThreadCurveTable, &kBatchTable};
  return kTables;
}

}  // namespace pitwall::analysis

namespace pitwall {

std::vector<TableDoc> analysisTableDocs() {
  std::vector<TableDoc> docs;
  for (const analysis::TableDeclaration* table : analysis::analysisTables()) {
    TableDoc doc;
    doc.name = table->name;
    doc.text = table->rows;
    for (const analysis::Column& column : table->columns) {
      const std::string unit = *column.unit == 0 ? "" : std::string(" (") + column.unit + ")";
      doc.columns.push_back({column.name, analysis::toString(column.type), column.meaning + unit});
    }
    docs.push_back(std::move(doc));
  }
  return docs;
}

}  // namespace pitwall
