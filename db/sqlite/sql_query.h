// Runs a user's SQL on an open trace.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "db/reader.h"
#include "db/result.h"
#include "db/sqlite/trace_data.h"

namespace pitwall::store {

// One or more statements; the rows are those of the last. Errors: invalidInput (SQLite's message and the
// statement; a parameter of the statement that was not given), corruptTrace (a damaged chunk), io.
Result<SqlRows> runQuery(TraceData& data, const std::string& sql, std::span<const SqlParameter> parameters);

// The rows of every statement, one by one. Errors: the same.
Status visitQuery(TraceData& data, const std::string& sql, std::span<const SqlParameter> parameters,
                  SqlVisitor& visitor);

// All rows or none. Errors: invalidInput.
Status insertTempRows(TraceData& data, const std::string& table, std::span<const std::vector<SqlValue>> rows);

}  // namespace pitwall::store
