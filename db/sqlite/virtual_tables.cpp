#include "db/sqlite/virtual_tables.h"

#include <sqlite3.h>

#include "db/sqlite/trace_data.h"

namespace pitwall::store {

Status registerVirtualTables(TraceData& data) {
  struct Entry {
    const char* name;
    const sqlite3_module* module;
  };
  const Entry entries[] = {{"event", eventTable()},
                           {"dependency", dependencyTable()},
                           {"counter", counterTable()},
                           {"event_stats", eventStatsFunction()},
                           {"event_busy", eventBusyFunction()},
                           {"event_overlap", eventOverlapFunction()},
                           {"event_lod", eventLodFunction()}};
  for (const Entry& entry : entries) {
    if (sqlite3_create_module_v2(data.connection().handle(), entry.name, entry.module, &data, nullptr) !=
        SQLITE_OK)
      return fail(data.connection().lastError("use"));
  }
  return {};
}

}  // namespace pitwall::store
