#include "db/sqlite/virtual_tables.h"

#include <sqlite3.h>

#include <array>
#include <utility>

#include "db/sqlite/trace_data.h"

namespace pitwall::store {

namespace {

struct Entry {
  const char* name;
  const sqlite3_module* module;
};

std::array<Entry, 7> entries() {
  return {Entry{"event", eventTable()},
          Entry{"dependency", dependencyTable()},
          Entry{"counter", counterTable()},
          Entry{"event_stats", eventStatsFunction()},
          Entry{"event_busy", eventBusyFunction()},
          Entry{"event_overlap", eventOverlapFunction()},
          Entry{"event_lod", eventLodFunction()}};
}

// One per module; the last one releases the data.
struct Share : ModuleContext {
  explicit Share(std::shared_ptr<TraceData> shared) : ModuleContext{shared.get()}, owner(std::move(shared)) {}
  std::shared_ptr<TraceData> owner;
};

}  // namespace

Status registerVirtualTables(TraceData& data) {
  for (const Entry& entry : entries()) {
    if (sqlite3_create_module_v2(data.connection().handle(), entry.name, entry.module, &data.module_context,
                                 nullptr) != SQLITE_OK)
      return fail(data.connection().lastError("use"));
  }
  return {};
}

Status registerVirtualTables(std::shared_ptr<TraceData> data) {
  for (const Entry& entry : entries()) {
    auto share = std::make_unique<Share>(data);
    const auto release = [](void* context) {
      delete static_cast<Share*>(static_cast<ModuleContext*>(context));
    };
    // SQLite releases the context itself where this fails.
    if (sqlite3_create_module_v2(data->connection().handle(), entry.name, entry.module,
                                 static_cast<ModuleContext*>(share.release()), release) != SQLITE_OK)
      return fail(data->connection().lastError("use"));
  }
  return {};
}

}  // namespace pitwall::store
