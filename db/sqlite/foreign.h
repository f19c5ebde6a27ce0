// Reads databases of other programs, which may be of any version or damaged: tables and columns by name,
// absent ones as null. Never writes, never leaves a file beside the database, and never runs views, triggers
// or virtual tables of the database.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/result.h"
#include "db/sqlite/row_record.h"

namespace pitwall::store {

class Connection;

// The current row of a visit: parsed from its page if the table is a plain one, else read by SQL.
class ForeignRow {
 public:
  // Columns in the requested order, from 0.
  bool isNull(std::size_t column) const { return plain_ ? record_.isNull(column) : isNullInSql(column); }
  std::int64_t integer(std::size_t column) const {  // 0 when null
    return plain_ ? record_.integer(column) : integerInSql(column);
  }
  double real(std::size_t column) const {  // 0 when null
    return plain_ ? record_.real(column) : realInSql(column);
  }
  // Valid during the visit of this row; empty when null.
  std::string_view text(std::size_t column) const {
    return plain_ ? record_.text(column) : textInSql(column);
  }

 private:
  friend class ForeignDatabase;
  explicit ForeignRow(std::vector<int> positions) : position_(positions), record_(std::move(positions)) {}
  bool isNullInSql(std::size_t column) const;
  std::int64_t integerInSql(std::size_t column) const;
  double realInSql(std::size_t column) const;
  std::string_view textInSql(std::size_t column) const;

  void* statement_ = nullptr;
  std::vector<int> position_;  // in the statement; -1: the table has no such column
  bool plain_ = false;
  RowRecord record_;
};

class ForeignDatabase {
 public:
  // Errors: io, corruptTrace (not a database, or its list of tables is damaged).
  static Result<std::unique_ptr<ForeignDatabase>> open(const std::string& path);
  ~ForeignDatabase();

  bool has(std::string_view table) const { return tables_.find(table) != tables_.end(); }
  bool has(std::string_view table, std::string_view column) const;
  std::vector<std::string> tables() const;

  using Visitor = std::function<Status(const ForeignRow&)>;
  // Every row of the table, in the order of the file; no rows when there is no such table. Ends with the
  // visitor's first failure, or with corruptTrace after the rows before the damage.
  Status visit(std::string_view table, std::span<const std::string_view> columns, const Visitor& visitor);
  // Of the values above `above`. None when the table, the column or all such values are missing.
  Result<std::optional<std::int64_t>> minimum(std::string_view table, std::string_view column,
                                              std::int64_t above = INT64_MIN);
  Result<std::int64_t> rows(std::string_view table);
  Result<std::int64_t> applicationId();

 private:
  ForeignDatabase();
  struct Column {
    int position = 0;
    bool plain = true;  // the stored value is the column's value
  };
  struct Table {
    std::int64_t root = 0;  // page
    bool plain = true;      // each column has a fixed position in a row
    std::map<std::string, Column, std::less<>> columns;
  };
  Status readTables();
  Status readColumns(const std::string& name, Table& table);
  Status visitPlain(const Table& table, ForeignRow row, const Visitor& visitor, bool& plain);
  Status visitBySql(std::string_view table, std::span<const std::string_view> columns,
                    const Visitor& visitor);

  std::unique_ptr<Connection> connection_;
  std::map<std::string, Table, std::less<>> tables_;
};

}  // namespace pitwall::store
