// Fills a temp table of the trace's connection; replaces the one of an earlier analysis.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// The value, or null when it is not known. (A conditional expression makes g++ 12 warn of uninitialized
// text.)
SqlValue known(bool is_known, double value);
SqlValue known(bool is_known, std::int64_t value);

class TempTable {
 public:
  // `columns` as CREATE TABLE takes them: "name TEXT, total_ns INTEGER".
  TempTable(std::string name, std::string columns) : name_(std::move(name)), columns_(std::move(columns)) {}

  void row(std::vector<SqlValue> values) { rows_.push_back(std::move(values)); }

  Status write(Trace& trace) const {
    auto made = trace.query("DROP TABLE IF EXISTS temp." + name_ + "; CREATE TEMP TABLE " + name_ + " (" +
                            columns_ + ")");
    if (!made.has_value()) return fail(made.error());
    return trace.insertTemp(name_, rows_);
  }

 private:
  std::string name_, columns_;
  std::vector<std::vector<SqlValue>> rows_;
};

}  // namespace pitwall::analysis
