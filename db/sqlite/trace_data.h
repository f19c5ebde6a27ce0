// An open trace, shared by the virtual tables and the reader.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "db/event.h"
#include "db/result.h"
#include "db/sqlite/chunk_columns.h"
#include "db/sqlite/chunk_table.h"
#include "db/sqlite/connection.h"
#include "db/sqlite/dimensions.h"
#include "db/sqlite/event_pyramid.h"
#include "db/sqlite/event_summary.h"

struct sqlite3_stmt;

namespace pitwall::store {

class TraceData;

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const;
};
using StatementPtr = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

// The last statement of a user, prepared: the same text is often run again with other parameters.
struct LastStatement {
  std::string sql;
  StatementPtr statement;  // reset; null = none
};

// The context that SQLite keeps for a registered table.
struct ModuleContext {
  TraceData* data = nullptr;
};

class TraceData {
 public:
  // Reads everything except the chunks' columns, in one transaction. Registers the virtual tables.
  static Result<std::unique_ptr<TraceData>> load(Connection connection);
  // The same within another program's connection, whose settings stay unchanged. The virtual tables are not
  // registered.
  static Result<std::unique_ptr<TraceData>> attach(Connection connection);

  Connection& connection() { return connection_; }
  const Dimensions& dimensions() const { return dimensions_; }
  // Adds a loss that concerns this opening only; not in the file.
  void addLoss(Loss loss) { dimensions_.losses.push_back(std::move(loss)); }
  ChunkTable& events() { return *events_; }
  EventSummaryReader& eventSummaries() { return event_summaries_; }
  // The track's pyramid, built at the first call. Error: corruptTrace.
  Result<EventPyramid*> pyramid(std::uint32_t track);
  ChunkTable& dependencies() { return *dependencies_; }
  ChunkTable& counters() { return *counters_; }

  // Number of the event name `text`, if it occurs.
  std::optional<std::uint32_t> findString(std::string_view text);

  // Finalizes the cached statements, so that the connection can be closed; they are prepared again when
  // needed.
  void releaseStatements();

  ModuleContext module_context{this};

  // Connected tables, and whether the statements are finalized with the last of them: the host of an
  // extension cannot close its connection before. Declared before connection_, whose destructor disconnects
  // the tables.
  int connected_tables = 0;
  bool borrowed = false;

  // While true, statements are prepared under the rules for a user's SQL (db/sqlite/authorizer.h).
  bool user_statement = false;

  LastStatement& lastStatement() { return last_statement_; }

 private:
  explicit TraceData(Connection connection) : connection_(std::move(connection)) {}
  Status loadAll();

  Connection connection_;  // first: members below have statements of it
  Dimensions dimensions_;
  std::unique_ptr<ChunkTable> events_, dependencies_, counters_;
  EventSummaryReader event_summaries_{connection_};
  std::unordered_map<std::uint32_t, std::unique_ptr<EventPyramid>> pyramids_;
  std::unordered_map<std::string_view, std::uint32_t> string_ids_;  // filled at the first look-up
  LastStatement last_statement_;
};

// Whether the column's values are ids of dimension rows.
inline bool isIdColumn(EventColumn at) {
  return at == EventColumn::name || at == EventColumn::op || at == EventColumn::kernel ||
         at == EventColumn::args;
}

// An id column of a chunk, checked to name only rows that exist.
Result<std::span<const std::int64_t>> idColumn(TraceData& data, Chunk& chunk, EventColumn column);

// The same for a single pass; kept only in `scratch`. Id columns are checked, too.
Result<std::span<const std::int64_t>> scanColumn(TraceData& data, std::size_t chunk, EventColumn column,
                                                 std::vector<std::int64_t>& scratch);

inline Result<std::span<const std::int64_t>> column(Chunk& chunk, EventColumn at) {
  return chunk.column(static_cast<int>(at));
}

}  // namespace pitwall::store
