// Reads databases of other programs, which may be of any version or damaged: tables and columns by name,
// absent ones as null. Never writes, never leaves a file beside the database, runs nothing that the database
// itself defines (views, triggers, virtual tables).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/result.h"

namespace pitwall::store {

class Connection;

// The row that a visit stands on.
class ForeignRow {
 public:
  // Columns as asked for, from 0.
  bool isNull(std::size_t column) const;
  std::int64_t integer(std::size_t column) const;   // 0 when null or text
  double real(std::size_t column) const;            // 0 when null
  std::string_view text(std::size_t column) const;  // valid during the visit of this row

 private:
  friend class ForeignDatabase;
  void* statement_ = nullptr;
  std::vector<int> position_;  // in the statement; -1: the table has no such column
};

class ForeignDatabase {
 public:
  // Errors: io, corruptTrace (no database, or its list of tables is damaged).
  static Result<std::unique_ptr<ForeignDatabase>> open(const std::string& path);
  ~ForeignDatabase();

  bool has(std::string_view table) const { return columns_.find(table) != columns_.end(); }
  bool has(std::string_view table, std::string_view column) const;
  std::vector<std::string> tables() const;

  using Visitor = std::function<Status(const ForeignRow&)>;
  // Every row of the table, in the order of the file; nothing when there is no such table. Ends with the
  // visitor's first failure, or with corruptTrace after the rows before the damage.
  Status visit(std::string_view table, std::span<const std::string_view> columns, const Visitor& visitor);
  // None when the table, the column or all values are missing.
  Result<std::optional<std::int64_t>> minimum(std::string_view table, std::string_view column);
  Result<std::int64_t> rows(std::string_view table);
  Result<std::int64_t> applicationId();

 private:
  ForeignDatabase();
  Status readTables();

  std::unique_ptr<Connection> connection_;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> columns_;
};

}  // namespace pitwall::store
