// The table-valued functions event_busy(track, t0, t1, kind) and event_overlap(a, b, t0, t1): time that
// events cover.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "db/sqlite/covered_ranges.h"
#include "db/sqlite/virtual_table.h"
#include "db/sqlite/virtual_tables.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

constexpr TimeRange kAlways = {std::numeric_limits<TimeNs>::min(), std::numeric_limits<TimeNs>::max()};

Result<std::optional<std::int64_t>> optionalInteger(int plan, std::span<sqlite3_value*> values, int k,
                                                    std::string_view what) {
  sqlite3_value* value = argumentOf(plan, values, k);
  if (value == nullptr) return std::optional<std::int64_t>();
  const std::int64_t number = PITWALL_TRY(integerArgument(value, what));
  return std::optional(number);
}

// Arguments t0 and t1 at positions k and k + 1.
Result<TimeRange> windowArgument(int plan, std::span<sqlite3_value*> values, int k,
                                 std::string_view function) {
  auto t0 = PITWALL_TRY(optionalInteger(plan, values, k, fmt::format("{}: t0", function)));
  auto t1 = PITWALL_TRY(optionalInteger(plan, values, k + 1, fmt::format("{}: t1", function)));
  return TimeRange{t0.value_or(kAlways.begin_ns), t1.value_or(kAlways.end_ns)};
}

std::uint32_t trackNumber(std::int64_t number) {
  return number > 0 && number <= 0xffffffff ? static_cast<std::uint32_t>(number)
                                            : 0;  // 0: a track without events
}

Result<std::optional<EventKind>> kindArgument(sqlite3_value* value) {
  if (value == nullptr) return std::optional<EventKind>();
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  const std::string_view name = text == nullptr ? "" : text;
  for (int kind = 0; kind <= static_cast<int>(EventKind::communication); ++kind) {
    if (name == toString(static_cast<EventKind>(kind))) return std::optional(static_cast<EventKind>(kind));
  }
  return fail(
      ErrorCode::invalidInput,
      fmt::format("event_busy: kind '{}' is unknown; kinds are 'operator', 'scope', ... as in event.kind",
                  name));
}

// A sum of lengths, clamped to the range.
class Length {
 public:
  void add(TimeRange range) {
    TimeNs length = 0;
    if (__builtin_sub_overflow(range.end_ns, range.begin_ns, &length) ||
        __builtin_add_overflow(sum_, length, &sum_))
      full_ = true;
  }
  TimeNs sum() const { return full_ ? kAlways.end_ns : sum_; }

 private:
  TimeNs sum_ = 0;
  bool full_ = false;
};

// Ranges in memory, with the interface of a RangeStream.
class RangeList {
 public:
  explicit RangeList(std::span<const TimeRange> ranges) : ranges_(ranges) {}
  Result<bool> next(TimeRange& range) {
    if (at_ == ranges_.size()) return false;
    range = ranges_[at_++];
    return true;
  }

 private:
  std::span<const TimeRange> ranges_;
  std::size_t at_ = 0;
};

// Time that both cover.
template <class Ranges>
Result<TimeNs> common(Ranges& a, Ranges& b) {
  Length length;
  TimeRange in_a, in_b;
  Result<bool> more = a.next(in_a);
  if (more.has_value() && *more) more = b.next(in_b);
  while (more.has_value() && *more) {
    const TimeRange both{std::max(in_a.begin_ns, in_b.begin_ns), std::min(in_a.end_ns, in_b.end_ns)};
    if (both.begin_ns < both.end_ns) length.add(both);
    more = in_a.end_ns < in_b.end_ns ? a.next(in_a) : b.next(in_b);
  }
  PITWALL_TRY(more);
  return length.sum();
}

class BusyCursor {
 public:
  explicit BusyCursor(TraceData& data) : data_(data) {}

  Status filter(int plan, const char*, std::span<sqlite3_value*> values) {
    rows_.clear();
    at_ = 0;
    auto track = PITWALL_TRY(optionalInteger(plan, values, 0, "event_busy: track"));
    window_ = PITWALL_TRY(windowArgument(plan, values, 1, "event_busy"));
    kind_ = PITWALL_TRY(kindArgument(argumentOf(plan, values, 3)));
    if (track.has_value()) return add(*track);
    for (std::size_t i = 0; i < data_.dimensions().tracks.size(); ++i) {
      if (data_.dimensions().tracks[i].kind == TrackKind::counter) continue;
      PITWALL_TRY(add(static_cast<std::int64_t>(i + 1)));
    }
    return {};
  }

  Status next() {
    ++at_;
    return {};
  }
  bool atEnd() const { return at_ >= rows_.size(); }
  std::int64_t rowId() const { return static_cast<std::int64_t>(at_); }

  Status column(sqlite3_context* context, int index) {
    const Row& row = rows_[at_];
    switch (index) {
      case 0: sqlite3_result_int64(context, row.busy_ns); break;
      case 1: sqlite3_result_int64(context, row.track); break;
      case 2: sqlite3_result_int64(context, window_.begin_ns); break;
      case 3: sqlite3_result_int64(context, window_.end_ns); break;
      default:
        if (kind_.has_value()) resultText(context, toString(*kind_));
        break;
    }
    return {};
  }

 private:
  struct Row {
    std::int64_t track = 0;
    TimeNs busy_ns = 0;
  };

  Status add(std::int64_t track) {
    Length busy;
    RangeStream stream(data_, trackNumber(track), window_, kind_);
    TimeRange range;
    Result<bool> more = stream.next(range);
    for (; more.has_value() && *more; more = stream.next(range)) busy.add(range);
    PITWALL_TRY(more);
    if (!stream.inOrder()) {
      std::vector<TimeRange> ranges = PITWALL_TRY(coveredRanges(data_, trackNumber(track), window_, kind_));
      busy = {};
      for (const TimeRange& covered : ranges) busy.add(covered);
    }
    rows_.push_back({track, busy.sum()});
    return {};
  }

  TraceData& data_;
  TimeRange window_;
  std::optional<EventKind> kind_;
  std::vector<Row> rows_;
  std::size_t at_ = 0;
};

struct EventBusy {
  static constexpr const char* kSchema =
      "CREATE TABLE x(busy_ns INTEGER, track INTEGER HIDDEN, t0 INTEGER HIDDEN, t1 INTEGER HIDDEN, kind TEXT "
      "HIDDEN)";
  using Cursor = BusyCursor;

  static int bestIndex(TraceData& data, sqlite3_index_info& info) {
    info.estimatedCost = 100 + static_cast<double>(data.events().rows()) / 20;
    info.estimatedRows = 1;
    return planArguments(info, 1, 4);
  }
};

class OverlapCursor {
 public:
  explicit OverlapCursor(TraceData& data) : data_(data) {}

  Status filter(int plan, const char*, std::span<sqlite3_value*> values) {
    at_end_ = false;
    for (int k = 0; k < 2; ++k) {
      auto track = PITWALL_TRY(optionalInteger(plan, values, k, "event_overlap: track"));
      if (!track.has_value())
        return fail(ErrorCode::invalidInput, "event_overlap needs two tracks: event_overlap(a, b)");
      tracks_[k] = *track;
    }
    window_ = PITWALL_TRY(windowArgument(plan, values, 2, "event_overlap"));
    return compute();
  }

  Status next() {
    at_end_ = true;
    return {};
  }
  bool atEnd() const { return at_end_; }
  std::int64_t rowId() const { return 1; }

  Status column(sqlite3_context* context, int index) {
    const std::int64_t columns[] = {overlap_ns_, tracks_[0], tracks_[1], window_.begin_ns, window_.end_ns};
    sqlite3_result_int64(context, columns[index]);
    return {};
  }

 private:
  Status compute() {
    const std::uint32_t first = trackNumber(tracks_[0]), second = trackNumber(tracks_[1]);
    RangeStream stream_a(data_, first, window_, std::nullopt), stream_b(data_, second, window_, std::nullopt);
    overlap_ns_ = PITWALL_TRY(common(stream_a, stream_b));
    if (stream_a.inOrder() && stream_b.inOrder()) return {};
    auto a = PITWALL_TRY(coveredRanges(data_, first, window_, std::nullopt));
    auto b = PITWALL_TRY(coveredRanges(data_, second, window_, std::nullopt));
    RangeList list_a(a), list_b(b);
    overlap_ns_ = PITWALL_TRY(common(list_a, list_b));
    return {};
  }

  TraceData& data_;
  std::int64_t tracks_[2] = {};
  TimeRange window_;
  TimeNs overlap_ns_ = 0;
  bool at_end_ = true;
};

struct EventOverlap {
  static constexpr const char* kSchema =
      "CREATE TABLE x(overlap_ns INTEGER, a INTEGER HIDDEN, b INTEGER HIDDEN, t0 INTEGER HIDDEN, t1 INTEGER "
      "HIDDEN)";
  using Cursor = OverlapCursor;

  static int bestIndex(TraceData& data, sqlite3_index_info& info) {
    info.estimatedCost = 100 + static_cast<double>(data.events().rows()) / 20;
    info.estimatedRows = 1;
    return planArguments(info, 1, 4);
  }
};

}  // namespace

const sqlite3_module* eventBusyFunction() { return moduleOf<EventBusy>(); }
const sqlite3_module* eventOverlapFunction() { return moduleOf<EventOverlap>(); }

}  // namespace pitwall::store
