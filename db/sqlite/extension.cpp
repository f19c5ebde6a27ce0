// libpitwall_sqlite.so: the virtual tables and functions for any program that uses SQLite.
//
//   sqlite3 NAME.pitwall
//   sqlite> .load libpitwall_sqlite
//   sqlite> SELECT * FROM event_stats;
//
// Reads the trace as of the moment when it is loaded. The program must use the system's shared SQLite, as
// this library does: pointers of one copy of SQLite are invalid in another.
#include <sqlite3ext.h>

#include <memory>
#include <new>

#include "db/sqlite/schema.h"
#include "db/sqlite/trace_data.h"
#include "db/sqlite/virtual_tables.h"

namespace pitwall::store {

namespace {

// Uses the host's table of SQLite functions.
int refuse(const sqlite3_api_routines* host, char** message, const char* why) {
  if (message != nullptr) *message = host->mprintf("%s", why);
  return SQLITE_ERROR;
}

int attach(sqlite3* database, char** message, const sqlite3_api_routines* host) {
  Connection connection = Connection::borrow(database);
  const Result<std::int64_t> id = connection.integer("PRAGMA application_id");
  const Result<std::int64_t> version = connection.integer("PRAGMA user_version");
  if (!id.has_value() || *id != kApplicationId)
    return refuse(host, message,
                  "this database is not a Pitwall trace: open a .pitwall file, then load the extension");
  if (!version.has_value() || *version != kSchemaVersion)
    return refuse(host, message, "this trace is of another version of Pitwall: use that version's extension");
  Result<std::unique_ptr<TraceData>> data = TraceData::attach(std::move(connection));
  if (!data.has_value()) return refuse(host, message, data.error().message.c_str());
  Status registered = registerVirtualTables(std::shared_ptr<TraceData>(std::move(*data)));
  return registered.has_value() ? SQLITE_OK : refuse(host, message, registered.error().message.c_str());
}

}  // namespace

}  // namespace pitwall::store

// The name that SQLite derives from libpitwall_sqlite.so.
extern "C" __attribute__((visibility("default"))) int sqlite3_pitwallsqlite_init(
    sqlite3* database, char** message, const sqlite3_api_routines* host) {
  using namespace pitwall::store;
#undef sqlite3_libversion  // this library's own SQLite, not the host's
  if (host->libversion != &sqlite3_libversion)
    return refuse(host, message,
                  "this program carries its own copy of SQLite: use one that links the system's libsqlite3, "
                  "as sqlite3");
  try {
    return attach(database, message, host);
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}
