// Visits the tables of another tool's database: rows are counted, and a visit ends when the user interrupts.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "db/import/build/builder.h"
#include "db/import/input/text.h"
#include "db/sqlite/foreign.h"

namespace pitwall::import {

class DatabaseRows {
 public:
  DatabaseRows(store::ForeignDatabase& database, const ImportOptions& options, Builder& builder)
      : database_(database), options_(options), builder_(builder) {}

  // Each row is counted under the name `shown`; nothing where the table is missing. Errors: corruptTrace,
  // cancelled.
  template <class Visit>
  Status visit(std::string_view table, std::string_view shown, std::span<const std::string_view> columns,
               const Visit& row_visitor) {
    if (!database_.has(table)) return {};
    std::int64_t& rows = builder_.tally().record(fmt::format("rows {}", shown));
    return database_.visit(table, columns, [&](const store::ForeignRow& row) -> Status {
      if ((++rows & 0xFFF) == 0 && options_.cancel != nullptr &&
          options_.cancel->load(std::memory_order_relaxed))
        return fail(ErrorCode::cancelled,
                    fmt::format("{}: import interrupted", builder_.tally().input().path));
      row_visitor(row);
      return {};
    });
  }

  // The times in the columns 0 and 1, start and end. None, which is counted, where both are 0: profilers of GPUs write
  // that for what they could not measure.
  std::optional<Event> times(const store::ForeignRow& row) {
    Event event;
    event.start_ns = row.integer(0);
    const std::int64_t end = row.isNull(1) ? event.start_ns : row.integer(1);
    if (event.start_ns == 0 && end == 0) {
      builder_.tally().dropped("rows whose times the profiler did not measure: start and end are 0", "");
      return std::nullopt;
    }
    const bool wild = !InputClock::inRange(event.start_ns) || !InputClock::inRange(end);
    event.dur_ns = wild ? INT64_MAX : end - event.start_ns;  // rejected by Builder::add
    return event;
  }

  // A table of strings by number. Errors: also unsupported, where it is too large.
  using Strings = std::unordered_map<std::int64_t, std::string>;
  Status strings(std::string_view table, std::string_view id, std::string_view text, Strings& into) {
    Bytes bytes = 0;
    const std::string_view columns[] = {id, text};
    return database_.visit(table, columns, [&](const store::ForeignRow& row) -> Status {
      bytes += static_cast<Bytes>(row.text(1).size()) + 64;
      if (bytes > options_.limits.string_table_bytes) {
        return fail(ErrorCode::unsupported,
                    fmt::format("{}: the table {} holds more than {} bytes", builder_.tally().input().path,
                                table, options_.limits.string_table_bytes));
      }
      into[row.integer(0)] = std::string(row.text(1));
      return {};
    });
  }

 private:
  store::ForeignDatabase& database_;
  const ImportOptions& options_;
  Builder& builder_;
};

// Reads the tables of a database step by step. Damage to one table is recorded, and the others are still read.
template <class Reader, std::size_t N>
Status readTables(Reader& reader, Status (*const (&steps)[N])(Reader&), Tally& tally) {
  for (const auto step : steps) {
    Status status = step(reader);
    if (status.has_value()) continue;
    if (status.error().code != ErrorCode::corruptTrace) return status;
    tally.damaged(status.error().message);
  }
  return {};
}

// A number from a file as a size or an extent; those that no device can have count as unknown.
inline std::int32_t saneExtent(std::int64_t number) {
  return number < 0 || number > INT32_MAX ? 0 : static_cast<std::int32_t>(number);
}

}  // namespace pitwall::import
