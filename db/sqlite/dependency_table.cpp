// The virtual table dependency. Source and target are looked up through each chunk's order by that column.
#include <algorithm>

#include "db/sqlite/virtual_table.h"
#include "db/sqlite/virtual_tables.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

class DependencyCursor {
 public:
  explicit DependencyCursor(TraceData& data) : data_(data) {}

  Status filter(int, const char* plan_text, std::span<sqlite3_value*> arguments) {
    wanted_[0] = wanted_[1] = {};
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const PlannedConstraint constraint = plannedConstraint(plan_text, i);
      wanted_[constraint.column].narrow(constraint.op, arguments[i]);
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
  std::int64_t rowId() const { return chunk_->summary().id + static_cast<std::int64_t>(row()); }

  Status column(sqlite3_context* context, int index) {
    auto values = PITWALL_TRY(chunk_->column(index));
    const std::int64_t value = values[row()];
    if (index == static_cast<int>(DependencyColumn::kind)) {
      resultText(context, toString(static_cast<DependencyKind>(value)));
    } else {
      sqlite3_result_int64(context, value);
    }
    return {};
  }

 private:
  std::size_t row() const { return order_.empty() ? at_ : order_[at_]; }

  // Opens chunks until one has rows to show.
  Status settle() {
    const std::span<const ChunkSummary> summaries = data_.dependencies().summaries();
    while (at_ >= end_) {
      chunk_.reset();
      while (next_chunk_ < summaries.size() && !mayBeIn(summaries[next_chunk_])) ++next_chunk_;
      if (next_chunk_ == summaries.size()) return {};
      chunk_ = data_.dependencies().chunk(next_chunk_++);
      PITWALL_TRY(narrowRows());
    }
    return {};
  }

  bool mayBeIn(const ChunkSummary& summary) const {
    return wanted_[0].touches(summary.keys[0].least, summary.keys[0].greatest) &&
           wanted_[1].touches(summary.keys[1].least, summary.keys[1].greatest);
  }

  Status narrowRows() {
    order_ = {};
    at_ = 0;
    end_ = chunk_->rows();
    for (int key = 0; key < 2; ++key) {
      if (wanted_[key].none || wanted_[key].least != wanted_[key].greatest) continue;
      auto values = PITWALL_TRY(chunk_->column(key));
      auto order = PITWALL_TRY(chunk_->orderBy(key));
      const std::int64_t wanted = wanted_[key].least;
      const auto first = std::partition_point(order.begin(), order.end(),
                                              [&, v = values](std::uint32_t at) { return v[at] < wanted; });
      const auto last = std::partition_point(first, order.end(),
                                             [&, v = values](std::uint32_t at) { return v[at] == wanted; });
      order_ = order;
      at_ = static_cast<std::size_t>(first - order.begin());
      end_ = static_cast<std::size_t>(last - order.begin());
      return {};
    }
    return {};
  }

  TraceData& data_;
  IntegerRange wanted_[2];  // source, target
  std::size_t next_chunk_ = 0;
  std::shared_ptr<Chunk> chunk_;  // null at the end
  std::span<const std::uint32_t> order_;
  std::size_t at_ = 0, end_ = 0;
};

struct DependencyTable {
  static constexpr const char* kSchema = "CREATE TABLE x(source INTEGER, target INTEGER, kind TEXT)";
  using Cursor = DependencyCursor;

  static int bestIndex(TraceData& data, sqlite3_index_info& info) {
    const auto plan = planConstraints(info, [](int column, unsigned char) { return column < 2; });
    if (!plan.has_value()) return SQLITE_NOMEM;
    const auto total = static_cast<double>(std::max<std::int64_t>(1, data.dependencies().rows()));
    double scanned = total, found = total;
    for (std::size_t i = 0; 2 * i < plan->size(); ++i) {
      const bool equal = plannedConstraint(plan->c_str(), i).op == SQLITE_INDEX_CONSTRAINT_EQ;
      found = equal ? std::min(found, 4.0) : found * 0.25;
      const double chunks = 20.0 + static_cast<double>(data.dependencies().summaries().size()) / 8;
      scanned = equal ? std::min(scanned, chunks) : scanned * 0.25;
    }
    info.estimatedCost = 10 + scanned;
    info.estimatedRows = static_cast<sqlite3_int64>(std::max(1.0, found));
    return SQLITE_OK;
  }
};

}  // namespace

const sqlite3_module* dependencyTable() { return moduleOf<DependencyTable>(); }

}  // namespace pitwall::store
