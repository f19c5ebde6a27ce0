// The documentation of a trace file's tables from db/schema/schema.sql, for programs that show it.
#pragma once

#include <string>
#include <vector>

namespace pitwall {

struct ColumnDoc {
  std::string name;
  std::string type;  // "INTEGER", "TEXT", ...
  std::string text;  // what it is, with its unit
};

struct TableDoc {
  std::string name;  // of a function with its arguments: "event_busy(track, t0, t1, kind) -> busy_ns"
  std::string text;  // what a row is
  bool is_virtual = false;
  bool is_chunk = false;           // packed columns, readable only through the virtual tables
  std::vector<ColumnDoc> columns;  // of stored tables; a virtual table lists them in its name
};

// In the order of schema.sql, the virtual tables and functions last.
std::vector<TableDoc> tableDocs();

}  // namespace pitwall
