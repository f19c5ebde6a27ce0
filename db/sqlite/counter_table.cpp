// The virtual table counter.
#include <algorithm>
#include <bit>

#include "db/sqlite/virtual_table.h"
#include "db/sqlite/virtual_tables.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

enum class CounterTableColumn : int { track, time_ns, value, name, unit };

class CounterCursor {
 public:
  explicit CounterCursor(TraceData& data) : data_(data) {}

  Status filter(int, const char* plan_text, std::span<sqlite3_value*> arguments) {
    track_ = time_ = {};
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const PlannedConstraint constraint = plannedConstraint(plan_text, i);
      const bool is_track = constraint.column == static_cast<int>(CounterTableColumn::track);
      (is_track ? track_ : time_).narrow(constraint.op, arguments[i]);
    }
    next_chunk_ = 0;
    at_ = end_ = 0;
    chunk_.reset();
    return settle();
  }

  Status next() {
    ++at_;
    return settle();
  }

  bool atEnd() const { return chunk_ == nullptr; }
  std::int64_t rowId() const { return chunk_->summary().id + static_cast<std::int64_t>(at_); }

  Status column(sqlite3_context* context, int index) {
    const auto at = static_cast<CounterTableColumn>(index);
    const std::uint32_t track = chunk_->summary().track;
    if (at == CounterTableColumn::time_ns || at == CounterTableColumn::value) {
      const bool is_time = at == CounterTableColumn::time_ns;
      auto values =
          PITWALL_TRY(chunk_->column(static_cast<int>(is_time ? CounterColumn::time : CounterColumn::value)));
      const std::int64_t value = values[at_];
      is_time ? sqlite3_result_int64(context, value)
              : sqlite3_result_double(context, std::bit_cast<double>(value));
    } else if (at == CounterTableColumn::track || track == 0) {
      sqlite3_result_int64(context, track);
    } else {
      const TrackInfo& info = data_.dimensions().tracks[track - 1];
      resultText(context, at == CounterTableColumn::name ? info.name : info.unit);
    }
    return {};
  }

 private:
  Status settle() {
    const std::span<const ChunkSummary> summaries = data_.counters().summaries();
    while (at_ >= end_) {
      chunk_.reset();
      while (next_chunk_ < summaries.size() && !mayBeIn(summaries[next_chunk_])) ++next_chunk_;
      if (next_chunk_ == summaries.size()) return {};
      chunk_ = data_.counters().chunk(next_chunk_++);
      at_ = 0;
      end_ = chunk_->rows();
      if (time_.isAll()) continue;
      auto times = PITWALL_TRY(chunk_->column(static_cast<int>(CounterColumn::time)));
      at_ = static_cast<std::size_t>(std::ranges::lower_bound(times, time_.least) - times.begin());
      end_ = static_cast<std::size_t>(std::ranges::upper_bound(times, time_.greatest) - times.begin());
    }
    return {};
  }

  bool mayBeIn(const ChunkSummary& summary) const {
    return track_.contains(summary.track) && time_.touches(summary.time_ns.least, summary.time_ns.greatest);
  }

  TraceData& data_;
  IntegerRange track_, time_;
  std::size_t next_chunk_ = 0;
  std::shared_ptr<Chunk> chunk_;  // null at the end
  std::size_t at_ = 0, end_ = 0;
};

struct CounterTable {
  static constexpr const char* kSchema =
      "CREATE TABLE x(track INTEGER, time_ns INTEGER, value REAL, name TEXT, unit TEXT)";
  using Cursor = CounterCursor;

  static int bestIndex(TraceData& data, sqlite3_index_info& info) {
    const auto plan = planConstraints(info, [](int column, unsigned char) { return column < 2; });
    if (!plan.has_value()) return SQLITE_NOMEM;
    auto rows = static_cast<double>(std::max<std::int64_t>(1, data.counters().rows()));
    for (std::size_t i = 0; 2 * i < plan->size(); ++i) rows *= 0.25;
    info.estimatedCost = 10 + rows;
    info.estimatedRows = static_cast<sqlite3_int64>(std::max(1.0, rows));
    return SQLITE_OK;
  }
};

}  // namespace

const sqlite3_module* counterTable() { return moduleOf<CounterTable>(); }

}  // namespace pitwall::store
