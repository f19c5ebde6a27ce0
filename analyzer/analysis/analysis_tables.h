// All tables of the analyses. Each is declared in the file that writes it.
#pragma once

#include <span>

#include "analyzer/analysis/table_declaration.h"

namespace pitwall::analysis {

// In the order in which people read them: the run as a whole, its time, devices, threads, settings.
std::span<const TableDeclaration* const> analysisTables();

// The run.
extern const TableDeclaration kSummaryTable, kFactTable, kCoverageTable;
// Its time.
extern const TableDeclaration kIterationTable, kBreakdownTable, kOperatorTable, kFollowsTable, kHostGapTable,
    kOutlierTable, kDataTable, kDataRangeTable, kDataWorkTable;
extern const TableDeclaration kCriticalPathTable, kCriticalTable, kCriticalStepTable, kSimulationTable;
// Devices and ranks.
extern const TableDeclaration kDeviceTable, kGapTable, kKernelTable, kLaunchTable, kCopyTable, kCallTable,
    kNameTable, kRankTable, kCollectiveTable, kStoreKeyTable, kStoreRankTable;
// Threads, counters and the machine.
extern const TableDeclaration kThreadsTable, kThreadTable, kCounterTable, kMemoryTable, kHostTable,
    kProcessTable, kWaitTable;
// Sampled stacks.
extern const TableDeclaration kCodeTable, kNativeTable, kStartupTable;
// Settings and trials.
extern const TableDeclaration kSettingTable, kTunableTable, kThreadTrialTable, kThreadTrialView,
    kThreadCurveTable, kBatchTable;

}  // namespace pitwall::analysis
