// The schema in a database: identification, creation and migration.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "db/result.h"
#include "db/sqlite/connection.h"

namespace pitwall::store {

inline constexpr std::int64_t kApplicationId = 0x50697477;  // "Pitw"
// Of a trace exported as ordinary rows.
inline constexpr std::int64_t kRowsApplicationId = 0x50697452;  // "PitR"
// Stays 1 until the first release of Pitwall: older files are recorded again, not migrated.
inline constexpr int kSchemaVersion = 1;

// Creates the tables in an empty database, in one transaction, and leaves it in WAL mode.
Status createSchema(Connection& connection);

// One migration step, from schema version `from` to from + 1.
struct Migration {
  int from = 0;
  const char* sql = nullptr;
};

// The steps of this build, ordered by `from`; none yet.
std::span<const Migration> migrations();

// Migrates a database of an older version to `target`, in one transaction; nothing is changed on failure.
// Errors: versionMismatch when the file is newer than target or a step is missing; errors of the SQL.
Status migrate(Connection& connection, int target, std::span<const Migration> steps);

}  // namespace pitwall::store
