// Ranks whose collectives are carried out by threads (gloo, mpi, ucc), in a trace without device work: the rows of analysis_rank and
// analysis_collective for device 'cpu'.
#pragma once

#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {

// The kind of a collective by its name: 'all_reduce', ..., 'other'.
const char* collectiveOf(std::string_view name);

// Errors: corruptTrace; cancelled.
Status addHostRanks(Trace& trace, const Context& context, TempTable& collectives, TempTable& ranks);

}  // namespace pitwall::analysis
