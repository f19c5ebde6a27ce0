// The table event_summary: a summary of each chunk of events, so that statistics and drawing need not read
// the chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "db/result.h"
#include "db/sqlite/column_codec.h"
#include "db/sqlite/connection.h"
#include "db/sqlite/event_nodes.h"

namespace pitwall::store {

struct EventSummary {
  TimeNs last_start_ns = 0;
  std::vector<EventGroup> groups;  // empty: too many to be useful
  std::vector<EventNode> nodes;    // empty: too many to be useful
};

class EventSummaryWriter {
 public:
  // The connection must outlive the writer.
  static Result<EventSummaryWriter> create(Connection& connection);
  Status write(std::int64_t chunk, const EventSummary& summary);

 private:
  Statement insert_;
  ColumnEncoder encoder_;
  std::vector<std::int64_t> column_;             // scratch
  std::vector<std::vector<std::byte>> encoded_;  // bound to the statement until it ran
};

class EventSummaryReader {
 public:
  explicit EventSummaryReader(Connection& connection) : connection_(connection) {}

  // False when the chunk, of so many events, has no summary. `strings` is the number of strings. Error:
  // corruptTrace, naming the chunk.
  Result<bool> groups(std::int64_t chunk, std::int64_t strings, EventSummary& into);
  void releaseStatements() {
    groups_ = Statement();
    nodes_ = Statement();
  }
  Result<bool> nodes(std::int64_t chunk, std::int64_t events, std::int64_t strings, EventSummary& into);

 private:
  template <class Row, class Columns>
  Result<bool> read(Statement& statement, const char* sql, std::int64_t chunk, std::vector<Row>& rows,
                    TimeNs& last_start, const Columns& columns);
  Error damaged(std::int64_t chunk, const std::string& what) const;

  Connection& connection_;
  Statement groups_, nodes_;
  std::vector<std::int64_t> column_;  // scratch
};

}  // namespace pitwall::store
