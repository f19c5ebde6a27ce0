// The virtual table event.
//
// A scan goes chunk by chunk. A chunk whose summary cannot satisfy the constraints is skipped without reading
// its BLOBs; in the others a column is decoded when a constraint or the statement needs its first value, so
// that unused columns cost nothing. Within a chunk a range of start_ns is found by binary search, a single
// correlation through the chunk's order by correlation.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "db/sqlite/virtual_table.h"
#include "db/sqlite/virtual_tables.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

enum class EventTableColumn : int {
  id,
  track,
  start_ns,
  dur_ns,
  end_ns,
  pushed_ns,
  ready_ns,
  name,
  kind,
  phase,
  layer,
  op,
  correlation,
  depth,
  value,
  kernel,
  args,
};

// The constraints of one scan.
struct Wanted {
  IntegerRange id, track, start, dur, end, correlation;
  // Columns that must have one value; filled from name, args, kind, operator and kernel.
  std::vector<std::pair<EventColumn, std::int64_t>> equal;
  bool nothing = false;

  void add(TraceData& data, PlannedConstraint constraint, sqlite3_value* value);
  void addText(TraceData& data, EventTableColumn at, sqlite3_value* value);
  bool mayBeIn(const ChunkSummary& summary) const;
};

std::string_view textOf(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return {text == nullptr ? "" : text, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

void Wanted::addText(TraceData& data, EventTableColumn at, sqlite3_value* value) {
  if (sqlite3_value_type(value) != SQLITE_TEXT) return;  // SQLite compares it, row by row
  const std::string_view text = textOf(value);
  if (at == EventTableColumn::name || at == EventTableColumn::args) {
    if (text.empty()) return;  // no name and an empty one are equal
    const std::optional<std::uint32_t> found = data.findString(text);
    if (found.has_value())
      equal.emplace_back(at == EventTableColumn::name ? EventColumn::name : EventColumn::args, *found);
    nothing = nothing || !found.has_value();
    return;
  }
  for (int kind = 0; kind <= static_cast<int>(EventKind::communication); ++kind) {
    if (text == toString(static_cast<EventKind>(kind))) {
      equal.emplace_back(EventColumn::kind, kind);
      return;
    }
  }
}

void Wanted::add(TraceData& data, PlannedConstraint constraint, sqlite3_value* value) {
  const auto at = static_cast<EventTableColumn>(constraint.column);
  switch (at) {
    case EventTableColumn::id: id.narrow(constraint.op, value); break;
    case EventTableColumn::track: track.narrow(constraint.op, value); break;
    case EventTableColumn::start_ns: start.narrow(constraint.op, value); break;
    case EventTableColumn::dur_ns: dur.narrow(constraint.op, value); break;
    case EventTableColumn::end_ns: end.narrow(constraint.op, value); break;
    case EventTableColumn::correlation: correlation.narrow(constraint.op, value); break;
    case EventTableColumn::op:
    case EventTableColumn::kernel:
      if (sqlite3_value_type(value) == SQLITE_INTEGER)
        equal.emplace_back(at == EventTableColumn::op ? EventColumn::op : EventColumn::kernel,
                           sqlite3_value_int64(value));
      break;
    default: addText(data, at, value); break;
  }
}

bool Wanted::mayBeIn(const ChunkSummary& summary) const {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  return id.touches(summary.id, summary.id + summary.count - 1) && track.contains(summary.track) &&
         start.touches(summary.time_ns.least, summary.time_ns.greatest) &&
         dur.touches(kLeast, summary.max_dur_ns) && end.touches(kLeast, summary.time_ns.greatest) &&
         correlation.touches(summary.keys[0].least, summary.keys[0].greatest);
}

class EventCursor {
 public:
  explicit EventCursor(TraceData& data) : data_(data) {}

  Status filter(int, const char* plan_text, std::span<sqlite3_value*> arguments) {
    wanted_ = {};
    chunk_.reset();
    for (std::size_t i = 0; i < arguments.size(); ++i)
      wanted_.add(data_, plannedConstraint(plan_text, i), arguments[i]);
    const IntegerRange& track = wanted_.track;
    by_track_ = !track.none && track.least == track.greatest && track.least > 0 && track.least <= 0xffffffff;
    if (by_track_) of_track_ = data_.events().ofTrack(static_cast<std::uint32_t>(track.least));
    next_chunk_ = wanted_.nothing ? candidates() : 0;
    return enterNextChunk();
  }

  Status next() {
    ++at_;
    return settle();
  }

  bool atEnd() const { return chunk_ == nullptr; }
  std::int64_t rowId() const { return chunk_->summary().id + static_cast<std::int64_t>(row()); }
  Status column(sqlite3_context* context, int index);

 private:
  std::size_t candidates() const { return by_track_ ? of_track_.size() : data_.events().summaries().size(); }
  std::size_t row() const { return order_.empty() ? at_ : order_[at_]; }

  // Moves to the first row that satisfies the equalities, in later chunks if necessary.
  Status settle() {
    while (chunk_ != nullptr) {
      for (; at_ < end_; ++at_) {
        if (fulfils(row())) return {};
      }
      PITWALL_TRY(openNextChunk());
    }
    return {};
  }

  Status enterNextChunk() {
    PITWALL_TRY(openNextChunk());
    return settle();
  }

  bool fulfils(std::size_t row) const {
    return std::all_of(equal_.begin(), equal_.end(),
                       [row](const auto& wanted) { return wanted.first[row] == wanted.second; });
  }

  Status openNextChunk();
  Status narrowRows();

  // The column's values, decoded and checked at the chunk's first use of it.
  Result<std::span<const std::int64_t>> values(EventColumn at) {
    std::span<const std::int64_t>& known = columns_[static_cast<std::size_t>(at)];
    if (known.empty()) {
      known = PITWALL_TRY(isIdColumn(at) ? idColumn(data_, *chunk_, at) : store::column(*chunk_, at));
    }
    return known;
  }

  TraceData& data_;
  Wanted wanted_;
  bool by_track_ = false;
  std::span<const std::uint32_t> of_track_;
  std::size_t next_chunk_ = 0;
  std::shared_ptr<Chunk> chunk_;  // null at the end
  std::array<std::span<const std::int64_t>, kEventColumns> columns_;
  std::vector<std::pair<std::span<const std::int64_t>, std::int64_t>> equal_;
  std::span<const std::uint32_t> order_;  // empty: rows in the order of start
  std::size_t at_ = 0, end_ = 0;          // in order_, or of rows
};

Status EventCursor::openNextChunk() {
  chunk_.reset();
  columns_ = {};
  for (; next_chunk_ < candidates(); ++next_chunk_) {
    const std::size_t index = by_track_ ? of_track_[next_chunk_] : next_chunk_;
    if (!wanted_.mayBeIn(data_.events().summaries()[index])) continue;
    chunk_ = data_.events().chunk(index);
    ++next_chunk_;
    return narrowRows();
  }
  return {};
}

Status EventCursor::narrowRows() {
  equal_.clear();
  for (const auto& [at, value] : wanted_.equal) {
    auto read = PITWALL_TRY(values(at));
    equal_.emplace_back(read, value);
  }
  order_ = {};
  at_ = 0;
  end_ = chunk_->rows();
  const IntegerRange& correlation = wanted_.correlation;
  if (!correlation.none && correlation.least == correlation.greatest) {
    auto read = PITWALL_TRY(values(EventColumn::correlation));
    auto order = PITWALL_TRY(chunk_->orderBy(static_cast<int>(EventColumn::correlation)));
    const auto first = std::partition_point(
        order.begin(), order.end(), [&, v = read](std::uint32_t at) { return v[at] < correlation.least; });
    const auto last = std::partition_point(
        first, order.end(), [&, v = read](std::uint32_t at) { return v[at] == correlation.least; });
    order_ = order;
    at_ = static_cast<std::size_t>(first - order.begin());
    end_ = static_cast<std::size_t>(last - order.begin());
    return {};
  }
  if (!wanted_.start.isAll()) {
    auto read = PITWALL_TRY(values(EventColumn::start));
    at_ = static_cast<std::size_t>(std::ranges::lower_bound(read, wanted_.start.least) - read.begin());
    end_ = static_cast<std::size_t>(std::ranges::upper_bound(read, wanted_.start.greatest) - read.begin());
  }
  if (!wanted_.id.isAll()) {
    const std::int64_t first = chunk_->summary().id;
    at_ = std::max(at_, static_cast<std::size_t>(std::max<std::int64_t>(0, wanted_.id.least - first)));
    if (wanted_.id.greatest - first + 1 < static_cast<std::int64_t>(end_))
      end_ = static_cast<std::size_t>(wanted_.id.greatest - first + 1);
  }
  return {};
}

// Which column of the chunk a column of the table needs first.
EventColumn sourceOf(EventTableColumn at) {
  switch (at) {
    case EventTableColumn::dur_ns: return EventColumn::dur;
    case EventTableColumn::pushed_ns: return EventColumn::pushed_before;
    case EventTableColumn::ready_ns: return EventColumn::ready_before;
    case EventTableColumn::name: return EventColumn::name;
    case EventTableColumn::kind: return EventColumn::kind;
    case EventTableColumn::phase:
    case EventTableColumn::layer:
    case EventTableColumn::op: return EventColumn::op;
    case EventTableColumn::correlation: return EventColumn::correlation;
    case EventTableColumn::depth: return EventColumn::depth;
    case EventTableColumn::value: return EventColumn::value;
    case EventTableColumn::kernel: return EventColumn::kernel;
    case EventTableColumn::args: return EventColumn::args;
    default: return EventColumn::start;
  }
}

Status EventCursor::column(sqlite3_context* context, int index) {
  const auto at = static_cast<EventTableColumn>(index);
  if (at == EventTableColumn::id || at == EventTableColumn::track) {
    sqlite3_result_int64(context,
                         at == EventTableColumn::id ? rowId() : std::int64_t{chunk_->summary().track});
    return {};
  }
  auto source = PITWALL_TRY(values(sourceOf(at)));
  const std::int64_t value = source[row()];
  const Dimensions& dimensions = data_.dimensions();
  switch (at) {
    case EventTableColumn::end_ns: {
      auto dur = PITWALL_TRY(values(EventColumn::dur));
      sqlite3_result_int64(context, cappedEnd(value, dur[row()]));
      break;
    }
    case EventTableColumn::pushed_ns:
    case EventTableColumn::ready_ns: {
      auto start = PITWALL_TRY(values(EventColumn::start));
      sqlite3_result_int64(context, wrappingMinus(start[row()], value));
      break;
    }
    case EventTableColumn::name:
    case EventTableColumn::args:
      resultText(context,
                 value == 0 ? std::string_view("") : dimensions.strings[static_cast<std::size_t>(value - 1)]);
      break;
    case EventTableColumn::kind: resultText(context, toString(static_cast<EventKind>(value))); break;
    case EventTableColumn::phase:
      resultText(context, toString(value == 0 ? Phase::none
                                              : dimensions.facts[static_cast<std::size_t>(value - 1)].phase));
      break;
    case EventTableColumn::layer:
      resultText(context, value == 0 ? std::string_view("")
                                     : dimensions.facts[static_cast<std::size_t>(value - 1)].layer);
      break;
    case EventTableColumn::op:
    case EventTableColumn::kernel:
      if (value != 0) sqlite3_result_int64(context, value);
      break;
    default: sqlite3_result_int64(context, value); break;
  }
  return {};
}

struct EventTable {
  static constexpr const char* kSchema =
      "CREATE TABLE x(id INTEGER, track INTEGER, start_ns INTEGER, dur_ns INTEGER, end_ns INTEGER, pushed_ns "
      "INTEGER,"
      " ready_ns INTEGER, name TEXT, kind TEXT, phase TEXT, layer TEXT, operator INTEGER, correlation "
      "INTEGER,"
      " depth INTEGER, value INTEGER, kernel INTEGER, args TEXT)";
  using Cursor = EventCursor;

  static bool wants(int column, unsigned char op) {
    switch (static_cast<EventTableColumn>(column)) {
      case EventTableColumn::id:
      case EventTableColumn::track:
      case EventTableColumn::start_ns:
      case EventTableColumn::dur_ns:
      case EventTableColumn::end_ns:
      case EventTableColumn::correlation: return true;
      case EventTableColumn::name:
      case EventTableColumn::kind:
      case EventTableColumn::op:
      case EventTableColumn::kernel:
      case EventTableColumn::args: return op == SQLITE_INDEX_CONSTRAINT_EQ;
      default: return false;
    }
  }

  static int bestIndex(TraceData& data, sqlite3_index_info& info) {
    const std::optional<std::string> plan = planConstraints(info, wants);
    if (!plan.has_value()) return SQLITE_NOMEM;
    const auto total = static_cast<double>(std::max<std::int64_t>(1, data.events().rows()));
    double scanned = total, found = total;
    for (std::size_t i = 0; 2 * i < plan->size(); ++i) {
      const PlannedConstraint constraint = plannedConstraint(plan->c_str(), i);
      const bool equal = constraint.op == SQLITE_INDEX_CONSTRAINT_EQ;
      switch (static_cast<EventTableColumn>(constraint.column)) {
        case EventTableColumn::id:
          if (equal) scanned = found = 1;
          break;
        case EventTableColumn::track:
          if (equal) {
            const auto tracks =
                static_cast<double>(std::max<std::size_t>(1, data.dimensions().tracks.size()));
            scanned /= tracks;
            found /= tracks;
          }
          break;
        case EventTableColumn::correlation:
          if (equal) {
            found = std::min(found, 2.0);
            scanned = std::min(scanned, 20.0 + static_cast<double>(data.events().summaries().size()) / 8);
          }
          break;
        case EventTableColumn::start_ns:
        case EventTableColumn::end_ns:
          scanned *= 0.25;
          found *= 0.25;
          break;
        default:
          scanned *= 0.5;  // still decodes the column, but makes fewer rows
          found *= 0.1;
          break;
      }
    }
    info.estimatedCost = 10 + scanned;
    info.estimatedRows = static_cast<sqlite3_int64>(std::max(1.0, found));
    return SQLITE_OK;
  }
};

}  // namespace

const sqlite3_module* eventTable() { return moduleOf<EventTable>(); }

}  // namespace pitwall::store
