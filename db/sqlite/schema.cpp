#include "db/sqlite/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/try.h"

namespace pitwall::store {

extern const char kSchemaSql[];  // generated from db/schema/schema.sql

Status createSchema(Connection& connection) {
  // synchronous=OFF only here: an empty trace need not survive a power failure, and each fsync costs
  // milliseconds.
  const std::string before = fmt::format(
      "PRAGMA page_size=8192; PRAGMA synchronous=OFF; PRAGMA application_id={}; PRAGMA user_version={}; "
      "BEGIN;",
      kApplicationId, kSchemaVersion);
  PITWALL_TRY(connection.execute(before.c_str()));
  PITWALL_TRY(connection.execute(kSchemaSql));
  return connection.execute("COMMIT; PRAGMA journal_mode=WAL;");
}

std::span<const Migration> migrations() { return {}; }

Status migrate(Connection& connection, int target, std::span<const Migration> steps) {
  const std::int64_t version = PITWALL_TRY(connection.integer("PRAGMA user_version"));
  if (version > target) {
    return fail(ErrorCode::versionMismatch,
                fmt::format("'{}' has schema version {}, this Pitwall reads up to {}: use a newer Pitwall",
                            connection.path(), version, target));
  }
  PITWALL_TRY(connection.execute("BEGIN IMMEDIATE"));
  for (int from = static_cast<int>(version); from < target; ++from) {
    const auto step =
        std::find_if(steps.begin(), steps.end(), [&](const Migration& s) { return s.from == from; });
    Status status;
    if (step == steps.end()) {
      status =
          fail(ErrorCode::versionMismatch,
               fmt::format("'{}' has schema version {}, which this Pitwall no longer reads: use an older one",
                           connection.path(), version));
    } else {
      status = connection.execute(step->sql);
    }
    if (!status.has_value()) {
      (void)connection.execute("ROLLBACK");
      return status;
    }
  }
  const std::string after = fmt::format("PRAGMA user_version={}; COMMIT;", target);
  return connection.execute(after.c_str());
}

}  // namespace pitwall::store
