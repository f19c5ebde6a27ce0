// Reads a trace file. One Trace is used by one thread; open it twice for two.
//
// Times are ns since the trace's start. Everything returned is owned by the caller unless it says otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "db/event.h"
#include "db/result.h"

namespace pitwall {

// A cell of a query result: null, integer, real, text.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct SqlRows {
  std::vector<std::string> columns;
  std::vector<std::vector<SqlValue>> rows;
};

struct SqlParameter {
  std::string name;  // with its colon: ":threshold_share"
  SqlValue value;
};

// Receives the result of a query row by row.
class SqlVisitor {
 public:
  virtual ~SqlVisitor() = default;
  // Before the first row of each statement that yields any columns.
  virtual void columns(std::span<const std::string> names) = 0;
  // False ends the query, without an error. The values are valid only during the call.
  virtual bool row(std::span<const SqlValue> values) = 0;
  // Called often while a statement runs, also when it yields no rows for a long time. True ends the query
  // with the error cancelled.
  virtual bool cancelled() { return false; }
};

// Columns of events, for reading many events. Combine values with |.
enum EventFields : std::uint16_t {
  kStart = 1 << 0,
  kDur = 1 << 1,
  kPushed = 1 << 2,
  kReady = 1 << 3,
  kCorrelation = 1 << 4,
  kValue = 1 << 5,
  kName = 1 << 6,
  kOperator = 1 << 7,
  kKernel = 1 << 8,
  kArgs = 1 << 9,
  kKind = 1 << 10,
  kDepth = 1 << 11,
  kAllFields = (1 << 12) - 1,
};
inline constexpr EventFields operator|(EventFields a, EventFields b) {
  return static_cast<EventFields>(static_cast<std::uint16_t>(a) | static_cast<std::uint16_t>(b));
}

// Some events of one track, one span per field, all of the same length; empty for fields that were not
// requested. Ids and kinds are the numbers of StringId, OperatorId, KernelId and EventKind. Ordered by start
// within the spans.
struct EventSpans {
  std::int64_t first_id = 0;  // event.id of the first; the others follow it
  std::size_t size = 0;
  std::span<const std::int64_t> start_ns, dur_ns, pushed_ns, ready_ns, correlation, value, name, op, kernel,
      args, kind, depth;
};

// Event `i` of the spans; all fields must have been requested.
inline Event eventAt(const EventSpans& from, std::size_t i) {
  Event event;
  event.start_ns = from.start_ns[i];
  event.dur_ns = from.dur_ns[i];
  event.pushed_ns = from.pushed_ns[i];
  event.ready_ns = from.ready_ns[i];
  event.correlation = static_cast<CorrelationId>(from.correlation[i]);
  event.value = from.value[i];
  event.name = StringId{static_cast<std::uint32_t>(from.name[i])};
  event.op = OperatorId{static_cast<std::uint32_t>(from.op[i])};
  event.kernel = KernelId{static_cast<std::uint32_t>(from.kernel[i])};
  event.args = StringId{static_cast<std::uint32_t>(from.args[i])};
  event.kind = static_cast<EventKind>(from.kind[i]);
  event.depth = static_cast<std::uint16_t>(from.depth[i]);
  return event;
}

struct EventSelection {
  TrackId track;
  // Events that start before to_ns and may end after from_ns: all that touch the range, and some that do not.
  TimeNs from_ns = std::numeric_limits<TimeNs>::min();
  TimeNs to_ns = std::numeric_limits<TimeNs>::max();
  EventFields fields = kAllFields;
  // Leaves out what starts before from_ns.
  bool starting = false;
  // In ascending order. If not empty, chunks that hold none of them are skipped without being read; the
  // others are passed whole.
  std::span<const CorrelationId> correlations = {};
};

struct DependencySelection {
  // In ascending order. If not empty, chunks that lead to none of them are skipped without being read; the
  // others are passed whole.
  std::span<const CorrelationId> targets = {};
};

// Receives some thousand events at a time; the spans are valid during the call. False ends the reading.
using EventVisitor = std::function<bool(const EventSpans&)>;

// The same for dependencies and for samples of counters.
using DependencyVisitor = std::function<bool(std::span<const Dependency>)>;
using CounterVisitor = std::function<bool(std::span<const CounterSample>)>;

// A time range divided into bins of equal width, one per pixel.
struct BinRequest {
  TrackId track;
  TimeNs from_ns = 0;
  TimeNs to_ns = 0;          // beyond from_ns
  int bins = 0;              // 1..1048576
  std::optional<int> depth;  // events of that depth only
};

// The contents of a bin. Where many events fall into one bin they are not distinguished: an event, and its
// time, may then be counted in the neighbouring bin. The sums over all bins are exact: each event is counted
// once.
struct EventBin {
  int bin = 0;
  TimeNs begin_ns = 0;
  std::int64_t events = 0;  // that start in it; 0: an event that started earlier extends into it
  TimeNs total_ns = 0;      // time of events within it; nested events count separately
  TimeNs longest_ns = 0;    // whole duration of the longest event that touches it
  StringId longest_name;
};

class Trace {
 public:
  virtual ~Trace() = default;

  // Opens for reading. A file that is still being recorded is read as of now. A recording that was killed is
  // first completed from the rings beside it (db/ring_format.h); where that fails, losses() gives the reason.
  // Otherwise neither the file nor its log is changed; where the log of a killed recording cannot be read in
  // place, as in a folder that is not writable, it is read from a copy in the system's temporary folder.
  // Errors: notFound; invalidInput (a folder or device); io; corruptTrace (empty, not a database, another
  // program's, cut off, damaged); versionMismatch (written by a newer Pitwall).
  static Result<std::unique_ptr<Trace>> open(const std::string& path);

  virtual const std::string& path() const = 0;
  // False when the recording was killed or has not finished; its data is still consistent.
  virtual bool isComplete() const = 0;

  virtual std::optional<std::string> meta(const std::string& key) const = 0;
  virtual const std::string& string(StringId id) const = 0;  // valid as long as the trace; "" for none
  virtual std::span<const OperatorFacts> operatorFacts() const = 0;  // index = OperatorId.value - 1
  virtual std::span<const KernelFacts> kernelFacts() const = 0;      // index = KernelId.value - 1
  virtual std::span<const FrameInfo> frames() const = 0;             // index = FrameId.value - 1
  virtual std::span<const StackInfo> stacks() const = 0;             // index = StackId.value - 1
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
  // The same column by column, a chunk at a time, without building rows: reads and decodes only the requested
  // fields of the chunks that may touch the range. Chunks come in recording order; an event that encloses
  // others may be in a later chunk than they are. Errors: corruptTrace, naming the chunk.
  virtual Status eventColumns(const EventSelection& selection, const EventVisitor& visitor) = 0;
  // The bins that events of the track touch, by time; from sums stored in the file, so that it takes about as
  // long for a million events as for a thousand. The first call for a track reads its sums. Errors:
  // invalidInput (an empty range, no bins); corruptTrace.
  virtual Result<std::vector<EventBin>> eventBins(const BinRequest& request) = 0;
  virtual Result<std::vector<Dependency>> dependencies() = 0;
  virtual Result<std::vector<CounterSample>> counters(TrackId track) = 0;  // ordered by time
  // The same a chunk at a time, in recording order; samples are ordered by time within a chunk. Errors:
  // corruptTrace, naming the chunk.
  virtual Status visitDependencies(const DependencySelection& selection,
                                   const DependencyVisitor& visitor) = 0;
  Status visitDependencies(const DependencyVisitor& visitor) {
    return visitDependencies(DependencySelection{}, visitor);
  }
  virtual Status visitCounters(TrackId track, const CounterVisitor& visitor) = 0;

  // SQL over the dimension tables, the virtual tables event, dependency and counter, and the table-valued
  // functions (documented by db/schema/schema.sql). Several statements are allowed; the rows are those of the
  // last one, and each parameter that one of them names must be given. Read-only, except that temp tables may
  // be created, filled and dropped, for analysis results that rules share. A BLOB comes as text, X'...'.
  // Errors: invalidInput with SQLite's message and the statement; corruptTrace, naming the damaged chunk.
  virtual Result<SqlRows> query(const std::string& sql, std::span<const SqlParameter> parameters = {}) = 0;
  // The same for results larger than memory: the visitor receives the rows of every statement as they are
  // produced.
  virtual Status visit(const std::string& sql, std::span<const SqlParameter> parameters,
                       SqlVisitor& visitor) = 0;
  // Inserts rows into a temp table created through query(), all or none; values in the order of the table's
  // columns.
  virtual Status insertTemp(const std::string& table, std::span<const std::vector<SqlValue>> rows) = 0;

  // For reading a file in many small parts: while the returned object lives, the file is locked against
  // writers once instead of for each part. It must be destroyed before the trace, and insertTemp() waits for
  // its end.
  virtual std::shared_ptr<void> hold() = 0;
};

}  // namespace pitwall
