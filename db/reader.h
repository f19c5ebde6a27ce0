// Reads a trace file. One Trace is used by one thread; open it twice for two.
//
// Times are ns since the trace's start. Everything returned is owned by the caller unless it says otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "db/event.h"
#include "db/result.h"

namespace pitwall {

// A cell of an SQL answer: null, integer, real, text.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct SqlRows {
  std::vector<std::string> columns;
  std::vector<std::vector<SqlValue>> rows;
};

struct SqlParameter {
  std::string name;  // with its colon: ":threshold_share"
  SqlValue value;
};

class Trace {
 public:
  virtual ~Trace() = default;

  // Opens for reading. Never changes the file. The connection's temp schema is writable through execute().
  // Errors: notFound, io, corruptTrace (not a database, truncated, another program's), versionMismatch
  // (newer).
  static Result<std::unique_ptr<Trace>> open(const std::string& path);

  virtual const std::string& path() const = 0;
  // False when the recording was killed or has not finished; what is there is still consistent.
  virtual bool isComplete() const = 0;

  virtual std::optional<std::string> meta(const std::string& key) const = 0;
  virtual const std::string& string(StringId id) const = 0;  // valid as long as the trace; "" for none
  virtual std::span<const OperatorFacts> operatorFacts() const = 0;  // index = OperatorId.value - 1
  virtual std::span<const ProcessInfo> processes() const = 0;
  virtual std::span<const ThreadInfo> threads() const = 0;
  virtual std::span<const DeviceInfo> devices() const = 0;
  virtual std::span<const TrackInfo> tracks() const = 0;          // index = TrackId.value - 1
  virtual std::span<const IterationMark> iterations() const = 0;  // ordered by time
  virtual std::span<const SettingInEffect> settings() const = 0;
  virtual std::span<const TunableInEffect> tunables() const = 0;
  virtual std::span<const Loss> losses() const = 0;

  // Events of one track ordered by start, decoded chunk by chunk. Errors: corruptTrace, naming the chunk.
  virtual Result<std::vector<Event>> events(TrackId track) = 0;
  virtual Result<std::vector<Dependency>> dependencies() = 0;
  virtual Result<std::vector<CounterSample>> counters(TrackId track) = 0;

  // SQL over the dimension tables, the virtual tables event, dependency and counter, and the table-valued
  // functions (documented by db/schema/schema.sql). Reads only, except that CREATE TEMP TABLE and inserts
  // into temp tables are allowed, for analysis results that rules share. Errors: invalidInput with SQLite's
  // message and the statement.
  virtual Result<SqlRows> query(const std::string& sql, std::span<const SqlParameter> parameters = {}) = 0;
  // Inserts rows into a temp table created through query(); values in the order of the table's columns.
  virtual Status insertTemp(const std::string& table, std::span<const std::vector<SqlValue>> rows) = 0;
};

}  // namespace pitwall
