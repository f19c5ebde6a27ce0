#include "analyzer/analysis/temp_table.h"

#include <utility>

#include "db/check.h"
#include "db/try.h"

namespace pitwall::analysis {

SqlValue known(bool is_known, double value) {
  SqlValue result;
  if (is_known) result = value;
  return result;
}

SqlValue known(bool is_known, std::int64_t value) {
  SqlValue result;
  if (is_known) result = value;
  return result;
}

void TempTable::row(std::vector<SqlValue> values) {
  PITWALL_CHECK(values.size() == declaration_.columns.size(), "%s: %zu values for %zu columns",
                declaration_.name, values.size(), declaration_.columns.size());
  rows_.push_back(std::move(values));
}

Status TempTable::write(Trace& trace) {
  const std::string name = declaration_.name;
  PITWALL_TRY(trace.query("DROP TABLE IF EXISTS temp." + name + "; CREATE TEMP TABLE " + name + " (" +
                          columnsInSql(declaration_) + ")"));
  return append(trace);
}

Status TempTable::append(Trace& trace) {
  auto status = trace.insertTemp(declaration_.name, rows_);
  rows_.clear();
  return status;
}

}  // namespace pitwall::analysis
