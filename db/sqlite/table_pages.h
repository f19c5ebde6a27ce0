// Reads the rows of a table directly from the pages of a database file that has no writer. A statement over
// the same rows costs several times as much: it copies every value into a register of a virtual machine, and
// a call fetches it from there.
//
// Supports only plain row-id tables (https://www.sqlite.org/fileformat2.html, b-tree pages); open() rejects
// others, which need SQL. The file is not trusted: each page is read once at most, and every offset is
// checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "db/result.h"
#include "db/sqlite/connection.h"

namespace pitwall::store {

class TablePages {
 public:
  // Opens the table with root page `root`. None where rows cannot be read this way: a table without row ids,
  // text that is not UTF-8. The connection must outlive it. Error: io.
  static Result<std::optional<TablePages>> open(const Connection& connection, std::int64_t root);

  // The next row, in the order of row ids; valid until the next call. False at the end, and where the file is
  // damaged: then status() has the error.
  bool next(std::span<const std::byte>& row) {
    while (cell_ == cells_) {
      if (!nextLeaf()) return false;
    }
    return readCell(cell_++, row);
  }
  // After next() returned false. Error: corruptTrace, io.
  Status takeStatus() { return std::move(status_); }
  // Reports that the last row of next() is invalid.
  Failure damagedRow() const;

 private:
  struct Interior {
    std::vector<std::uint32_t> children;
    std::size_t next = 0;
  };

  explicit TablePages(const Connection& connection) : connection_(&connection) {}
  bool nextLeaf();
  bool enter(std::uint32_t page);
  bool enterInterior(std::uint32_t page, std::span<const std::byte> bytes);
  bool readCell(std::size_t cell, std::span<const std::byte>& row);
  bool readOverflow(std::span<const std::byte> local, std::uint64_t size, std::uint32_t page,
                    std::span<const std::byte>& row);
  std::size_t localSize(std::uint64_t size) const;
  std::optional<std::span<const std::byte>> page(std::uint32_t number);
  Failure damage(std::uint32_t page, const char* what) const;
  bool damaged(std::uint32_t page, const char* what);  // false

  const Connection* connection_;
  std::size_t page_size_ = 0;
  std::size_t usable_ = 0;  // of a page
  std::uint64_t pages_ = 0;
  std::uint64_t entered_ = 0;

  std::vector<Interior> path_;  // from the root to the leaf
  std::uint32_t leaf_ = 0;
  std::span<const std::byte> leaf_bytes_;
  std::size_t cell_ = 0, cells_ = 0;
  std::vector<std::byte> long_row_;  // one that continues in overflow pages

  // Pages per read, increased while reads are sequential.
  std::vector<std::byte> window_;
  std::uint64_t window_first_ = 0, window_pages_ = 0;
  std::size_t ahead_ = 1;
  Status status_;
};

}  // namespace pitwall::store
