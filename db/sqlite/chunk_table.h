// Reads one of the chunk tables: summaries when opened, columns of a chunk on demand, decoded once and kept
// in an LRU cache.
//
// Threads: one, like the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/result.h"
#include "db/sqlite/connection.h"

namespace pitwall::store {

// The key range in a chunk's summary, both ends included.
struct KeyRange {
  std::int64_t least = 0;
  std::int64_t greatest = 0;
};

struct ChunkSummary {
  std::int64_t id = 0;      // of the first row
  std::uint32_t track = 0;  // 0 for dependencies
  std::int64_t count = 0;   // rows, 1..kMaxChunkRows
  KeyRange time_ns;         // events: first start, last end; samples: first and last time
  std::int64_t max_dur_ns = 0;
  KeyRange keys[2];  // events: correlation; dependencies: source, target
};

class ChunkTable;

// The rows of one chunk, column by column.
class Chunk {
 public:
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;
  ~Chunk();
  const ChunkSummary& summary() const { return summary_; }
  std::size_t rows() const { return static_cast<std::size_t>(summary_.count); }

  // Decoded at the first call; valid as long as the chunk. Error: corruptTrace, naming file, chunk and
  // column.
  Result<std::span<const std::int64_t>> column(int index);
  // Positions of the rows in the order of that column; for look-ups of single values.
  Result<std::span<const std::uint32_t>> orderBy(int index);

 private:
  friend class ChunkTable;
  Chunk(ChunkTable& table, const ChunkSummary& summary);
  ChunkTable& table_;
  const ChunkSummary& summary_;
  std::vector<std::vector<std::int64_t>> columns_;  // empty: not decoded
  std::vector<std::vector<std::uint32_t>> orders_;
};

class ChunkTable {
 public:
  struct Layout {
    const char* table;                     // "event_chunk"
    const char* summary_sql;               // yields the members of ChunkSummary in order, by id
    std::span<const char* const> columns;  // names of the BLOB columns
  };

  // The connection must outlive the table. Errors: corruptTrace for an impossible summary.
  static Result<std::unique_ptr<ChunkTable>> load(Connection& connection, const Layout& layout);

  // Ordered by id.
  std::span<const ChunkSummary> summaries() const { return summaries_; }
  std::int64_t rows() const { return rows_; }
  // Indices into summaries() of one track, ordered by id.
  std::span<const std::uint32_t> ofTrack(std::uint32_t track) const;

  // The chunk stays valid while the caller holds it. `index` is one into summaries().
  std::shared_ptr<Chunk> chunk(std::size_t index);

  // For a single pass over many chunks: the cached column if the chunk is in use, else decoded into `scratch`
  // and not cached.
  Result<std::span<const std::int64_t>> scan(std::size_t index, int column,
                                             std::vector<std::int64_t>& scratch);

  void releaseStatements() {
    for (Statement& statement : read_column_) statement = Statement();
  }

  // Columns read from the file so far, for tests of what a query touches.
  std::int64_t columnsRead() const { return columns_read_; }

 private:
  friend class Chunk;
  ChunkTable(Connection& connection, const Layout& layout) : connection_(connection), layout_(layout) {}
  Status loadSummaries();
  Status readColumn(const ChunkSummary& summary, int column, std::vector<std::int64_t>& values);
  Error unreadable(const Error& error) const;
  Error damaged(const ChunkSummary& summary, const std::string& column, const std::string& what) const;

  Connection& connection_;
  Layout layout_;
  std::vector<ChunkSummary> summaries_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> by_track_;
  std::int64_t rows_ = 0;
  std::int64_t columns_read_ = 0;
  std::vector<Statement> read_column_;            // by column, prepared when needed
  std::vector<std::vector<std::int64_t>> spare_;  // memory of columns that are no longer used
  // Least recently used first.
  std::list<std::pair<std::size_t, std::shared_ptr<Chunk>>> recent_;
  std::unordered_map<std::size_t, decltype(recent_)::iterator> cached_;
};

}  // namespace pitwall::store
