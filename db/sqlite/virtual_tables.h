// The virtual tables over chunks, and the table-valued functions; documented at the end of
// db/schema/schema.sql.
#pragma once

#include <memory>

#include "db/result.h"

struct sqlite3_module;

namespace pitwall::store {

class TraceData;

// Registers all of them with the trace's connection. `data` must outlive it.
Status registerVirtualTables(TraceData& data);

// The same, with shared data that is released with the connection.
Status registerVirtualTables(std::shared_ptr<TraceData> data);

// One table per file.
const sqlite3_module* eventTable();
const sqlite3_module* dependencyTable();
const sqlite3_module* counterTable();
const sqlite3_module* eventStatsFunction();
const sqlite3_module* eventBusyFunction();
const sqlite3_module* eventOverlapFunction();
const sqlite3_module* eventLodFunction();

}  // namespace pitwall::store
