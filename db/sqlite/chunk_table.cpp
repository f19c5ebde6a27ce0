#include "db/sqlite/chunk_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "db/sqlite/column_codec.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

// Number of cached decoded chunks: 64 of them with 8192 rows of ten 8-byte columns take 40 MB.
constexpr std::size_t kCachedChunks = 64;
constexpr std::size_t kSpareColumns = 64;

}  // namespace

Chunk::Chunk(ChunkTable& table, const ChunkSummary& summary)
    : table_(table), summary_(summary), columns_(table.layout_.columns.size()), orders_(columns_.size()) {}

Chunk::~Chunk() {
  for (std::vector<std::int64_t>& column : columns_) {
    if (!column.empty() && table_.spare_.size() < kSpareColumns) table_.spare_.push_back(std::move(column));
  }
}

Result<std::span<const std::int64_t>> Chunk::column(int index) {
  std::vector<std::int64_t>& column = columns_[static_cast<std::size_t>(index)];
  if (column.empty()) {
    std::vector<std::int64_t> values;
    if (!table_.spare_.empty()) {
      values = std::move(table_.spare_.back());
      table_.spare_.pop_back();
    }
    PITWALL_TRY(table_.readColumn(summary_, index, values));
    column = std::move(values);
  }
  return std::span<const std::int64_t>(column);
}

Result<std::span<const std::uint32_t>> Chunk::orderBy(int index) {
  std::vector<std::uint32_t>& order = orders_[static_cast<std::size_t>(index)];
  if (order.empty()) {
    std::span<const std::int64_t> values = PITWALL_TRY(column(index));
    order.resize(rows());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [v = values](std::uint32_t a, std::uint32_t b) { return v[a] < v[b]; });
  }
  return std::span<const std::uint32_t>(order);
}

Result<std::unique_ptr<ChunkTable>> ChunkTable::load(Connection& connection, const Layout& layout) {
  std::unique_ptr<ChunkTable> table(new ChunkTable(connection, layout));
  PITWALL_TRY(table->loadSummaries());
  return table;
}

Status ChunkTable::loadSummaries() {
  Result<Statement> statement = connection_.prepare(layout_.summary_sql);
  if (!statement.has_value()) return fail(unreadable(statement.error()));
  read_column_.resize(layout_.columns.size());
  while (true) {
    const bool row = PITWALL_TRY(statement->step());
    if (!row) break;
    ChunkSummary summary;
    summary.id = statement->integer(0);
    const std::int64_t track = statement->integer(1);
    summary.count = statement->integer(2);
    summary.time_ns = {statement->integer(3), statement->integer(4)};
    summary.max_dur_ns = statement->integer(5);
    summary.keys[0] = {statement->integer(6), statement->integer(7)};
    summary.keys[1] = {statement->integer(8), statement->integer(9)};
    if (summary.count < 1 || summary.count > kMaxChunkRows)
      return fail(
          damaged(summary, "", fmt::format("{} rows, allowed are 1 to {}", summary.count, kMaxChunkRows)));
    if (track < 0 || track > std::numeric_limits<std::uint32_t>::max())
      return fail(damaged(summary, "", fmt::format("track {} is impossible", track)));
    summary.track = static_cast<std::uint32_t>(track);
    by_track_[summary.track].push_back(static_cast<std::uint32_t>(summaries_.size()));
    summaries_.push_back(summary);
    rows_ += summary.count;
  }
  return {};
}

std::span<const std::uint32_t> ChunkTable::ofTrack(std::uint32_t track) const {
  const auto found = by_track_.find(track);
  return found == by_track_.end() ? std::span<const std::uint32_t>() : std::span(found->second);
}

std::shared_ptr<Chunk> ChunkTable::chunk(std::size_t index) {
  const auto found = cached_.find(index);
  if (found != cached_.end()) {
    recent_.splice(recent_.end(), recent_, found->second);
    return found->second->second;
  }
  if (cached_.size() >= kCachedChunks) {
    cached_.erase(recent_.front().first);
    recent_.pop_front();
  }
  std::shared_ptr<Chunk> chunk(new Chunk(*this, summaries_[index]));
  recent_.emplace_back(index, chunk);
  cached_[index] = std::prev(recent_.end());
  return chunk;
}

Result<std::span<const std::int64_t>> ChunkTable::scan(std::size_t index, int column,
                                                       std::vector<std::int64_t>& scratch) {
  const auto found = cached_.find(index);
  if (found != cached_.end()) return found->second->second->column(column);
  PITWALL_TRY(readColumn(summaries_[index], column, scratch));
  return std::span<const std::int64_t>(scratch);
}

Status ChunkTable::readColumn(const ChunkSummary& summary, int column, std::vector<std::int64_t>& values) {
  const auto index = static_cast<std::size_t>(column);
  const std::string name = layout_.columns[index];
  Statement& read = read_column_[index];
  if (read.handle() == nullptr) {
    Result<Statement> prepared =
        connection_.prepare(fmt::format("SELECT {} FROM {} WHERE id = ?1", name, layout_.table));
    if (!prepared.has_value()) return fail(unreadable(prepared.error()));
    read = std::move(*prepared);
  }
  ++columns_read_;
  values.resize(static_cast<std::size_t>(summary.count));
  Result<bool> row = read.bind(1, summary.id).step();
  if (!row.has_value()) {
    read.reset();
    return fail(damaged(summary, name, row.error().message));
  }
  Status status =
      *row ? decodeColumn(read.blob(0), values) : fail(ErrorCode::corruptTrace, "the row is missing");
  read.reset();
  if (!status.has_value()) return fail(damaged(summary, name, status.error().message));
  return {};
}

// Our SQL fails on the file: the table or a column is missing.
Error ChunkTable::unreadable(const Error& error) const {
  if (error.code != ErrorCode::internal) return error;
  return {ErrorCode::corruptTrace,
          fmt::format("trace '{}' is damaged: {}: {}; record again, or restore a copy", connection_.path(),
                      layout_.table, error.message)};
}

Error ChunkTable::damaged(const ChunkSummary& summary, const std::string& column,
                          const std::string& what) const {
  const std::string where = column.empty() ? "" : fmt::format(", column {}", column);
  return {ErrorCode::corruptTrace,
          fmt::format("trace '{}' is damaged: {} {}{}: {}; record again, or restore a copy",
                      connection_.path(), layout_.table, summary.id, where, what)};
}

}  // namespace pitwall::store
