// Fills a temp table of the trace's connection; replaces the one of an earlier analysis.
#pragma once

#include <string>
#include <vector>

#include "analyzer/analysis/table_declaration.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// The value, or null when it is not known. (A conditional expression makes g++ 12 warn of uninitialized
// text.)
SqlValue known(bool is_known, double value);
SqlValue known(bool is_known, std::int64_t value);

class TempTable {
 public:
  // The declaration must outlive it.
  explicit TempTable(const TableDeclaration& declaration) : declaration_(declaration) {}

  // One value for each declared column, in that order.
  void row(std::vector<SqlValue> values);
  std::size_t rows() const { return rows_.size(); }

  // Creates the table with the rows so far.
  Status write(Trace& trace);
  // Of tables with many rows: adds those since write() or append(), and forgets them.
  Status append(Trace& trace);

 private:
  const TableDeclaration& declaration_;
  std::vector<std::vector<SqlValue>> rows_;
};

}  // namespace pitwall::analysis
