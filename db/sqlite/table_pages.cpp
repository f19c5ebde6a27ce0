#include "db/sqlite/table_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "db/sqlite/row_record.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

constexpr std::byte kInteriorPage{0x05}, kLeafPage{0x0d};
constexpr std::size_t kInteriorHeader = 12, kLeafHeader = 8;
constexpr std::size_t kDeepest = 20;  // SQLite's own limit
constexpr std::uint64_t kLongestRow = std::uint64_t{64} << 20;
constexpr std::size_t kWindowBytes = std::size_t{128} << 10;
constexpr std::uint64_t kNear = 8;  // maximum gap in pages between sequential reads

std::size_t two(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<std::size_t>(bytes[at]) << 8 | std::to_integer<std::size_t>(bytes[at + 1]);
}

std::uint32_t four(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<std::uint32_t>(two(bytes, at) << 16 | two(bytes, at + 2));
}

}  // namespace

Result<std::optional<TablePages>> TablePages::open(const Connection& connection, std::int64_t root) {
  constexpr std::size_t kHeader = 100, kSizeAt = 16, kReservedAt = 20, kEncodingAt = 56;
  std::array<std::byte, kHeader> header = {};
  PITWALL_TRY(connection.readRaw(header, 0));
  const auto bytes = PITWALL_TRY(connection.fileSize());
  TablePages table(connection);
  table.page_size_ = two(header, kSizeAt) == 1 ? 65536 : two(header, kSizeAt);
  table.usable_ = table.page_size_ - std::to_integer<std::size_t>(header[kReservedAt]);
  if (table.page_size_ < 512 || !std::has_single_bit(table.page_size_) || table.usable_ < 480 ||
      four(header, kEncodingAt) != 1)
    return std::optional<TablePages>();
  table.pages_ = (static_cast<std::uint64_t>(bytes) + table.page_size_ - 1) / table.page_size_;
  if (root < 2 || static_cast<std::uint64_t>(root) > table.pages_) return std::optional<TablePages>();
  const auto first = table.page(static_cast<std::uint32_t>(root));
  if (!first) return fail(table.status_.error());
  if (first->front() != kInteriorPage && first->front() != kLeafPage) return std::optional<TablePages>();
  table.path_.push_back({{static_cast<std::uint32_t>(root)}, 0});
  return std::optional<TablePages>(std::move(table));
}

Failure TablePages::damage(std::uint32_t page, const char* what) const {
  return fail(ErrorCode::corruptTrace,
              fmt::format("cannot read '{}': page {} {}; the file is damaged: export it again",
                          connection_->path(), page, what));
}

Failure TablePages::damagedRow() const { return damage(leaf_, "has a row that cannot be parsed"); }

bool TablePages::damaged(std::uint32_t page, const char* what) {
  status_ = damage(page, what);
  path_.clear();
  cell_ = cells_ = 0;
  return false;
}

std::optional<std::span<const std::byte>> TablePages::page(std::uint32_t number) {
  if (number == 0 || number > pages_) {
    damaged(number, "belongs to the table, but is beyond the end of the file");
    return std::nullopt;
  }
  const std::uint64_t index = number - 1;
  if (index < window_first_ || index >= window_first_ + window_pages_) {
    const std::uint64_t end = window_first_ + window_pages_;
    const bool follows = index >= end && index - end < kNear;
    ahead_ = follows ? std::min(ahead_ * 2, std::max<std::size_t>(1, kWindowBytes / page_size_)) : 1;
    window_first_ = index;
    window_pages_ = std::min<std::uint64_t>(ahead_, pages_ - index);
    window_.resize(std::max(window_.size(), static_cast<std::size_t>(window_pages_) * page_size_));
    Status status = connection_->readRaw(
        std::span(window_).first(static_cast<std::size_t>(window_pages_) * page_size_), index * page_size_);
    if (!status.has_value()) {
      window_pages_ = 0;
      status_ = std::move(status);
      path_.clear();
      return std::nullopt;
    }
  }
  return std::span(window_).subspan(static_cast<std::size_t>(index - window_first_) * page_size_, usable_);
}

bool TablePages::nextLeaf() {
  cell_ = cells_ = 0;
  while (!path_.empty()) {
    Interior& last = path_.back();
    if (last.next == last.children.size()) {
      path_.pop_back();
      continue;
    }
    if (!enter(last.children[last.next++])) return false;
    if (cells_ > 0) return true;
  }
  return false;
}

bool TablePages::enter(std::uint32_t number) {
  const auto bytes = page(number);
  if (!bytes) return false;
  if (++entered_ > pages_) return damaged(number, "is part of a circle of pages");
  if (bytes->front() == kInteriorPage) return enterInterior(number, *bytes);
  if (bytes->front() != kLeafPage) return damaged(number, "is not a page of a table");
  leaf_ = number;
  leaf_bytes_ = *bytes;
  cells_ = two(*bytes, 3);
  if (kLeafHeader + 2 * cells_ > usable_) return damaged(number, "has more rows than fit into a page");
  return true;
}

bool TablePages::enterInterior(std::uint32_t number, std::span<const std::byte> bytes) {
  const std::size_t cells = two(bytes, 3);
  if (kInteriorHeader + 2 * cells > usable_) return damaged(number, "has more parts than fit into a page");
  if (path_.size() >= kDeepest) return damaged(number, "is too deep in its table");
  Interior interior;
  interior.children.reserve(cells + 1);
  for (std::size_t i = 0; i < cells; ++i) {
    const std::size_t at = two(bytes, kInteriorHeader + 2 * i);
    if (at + 4 > usable_) return damaged(number, "has a part beyond its end");
    interior.children.push_back(four(bytes, at));
  }
  interior.children.push_back(four(bytes, 8));  // the rightmost
  path_.push_back(std::move(interior));
  return true;
}

// The bytes of a row of that size that are stored in its leaf.
std::size_t TablePages::localSize(std::uint64_t size) const {
  const std::uint64_t most = usable_ - 35;
  if (size <= most) return static_cast<std::size_t>(size);
  const std::uint64_t least = (usable_ - 12) * 32 / 255 - 23;
  const std::uint64_t fitting = least + (size - least) % (usable_ - 4);
  return static_cast<std::size_t>(fitting <= most ? fitting : least);
}

bool TablePages::readCell(std::size_t cell, std::span<const std::byte>& row) {
  std::size_t at = two(leaf_bytes_, kLeafHeader + 2 * cell);
  std::uint64_t size = 0, row_id = 0;
  const auto number = [&](std::uint64_t& value) {
    const std::size_t taken = at < usable_ ? readVarint(leaf_bytes_.subspan(at), value) : 0;
    at += taken;
    return taken > 0;
  };
  if (!number(size) || !number(row_id)) return damaged(leaf_, "has a row beyond its end");
  if (size > std::min(kLongestRow, pages_ * page_size_))
    return damaged(leaf_, "has a row of impossible size");
  const std::size_t local = localSize(size);
  const bool goes_on = local < size;
  if (local + (goes_on ? 4 : 0) > usable_ - at) return damaged(leaf_, "has a row beyond its end");
  row = leaf_bytes_.subspan(at, local);
  return !goes_on || readOverflow(row, size, four(leaf_bytes_, at + local), row);
}

bool TablePages::readOverflow(std::span<const std::byte> local, std::uint64_t size, std::uint32_t page,
                              std::span<const std::byte>& row) {
  long_row_.assign(local.begin(), local.end());
  std::vector<std::byte> bytes(usable_);  // not the window: it holds the leaf's next rows
  while (long_row_.size() < size) {
    if (page == 0 || page > pages_) return damaged(leaf_, "has a row whose end is outside the file");
    if (++entered_ > pages_) return damaged(page, "is part of a circle of pages");
    if (Status status = connection_->readRaw(bytes, (page - std::uint64_t{1}) * page_size_);
        !status.has_value()) {
      status_ = std::move(status);
      path_.clear();
      cell_ = cells_ = 0;
      return false;
    }
    page = four(bytes, 0);
    const auto part =
        static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(size - long_row_.size(), usable_ - 4));
    long_row_.insert(long_row_.end(), bytes.begin() + 4, bytes.begin() + 4 + part);
  }
  row = long_row_;
  return true;
}

}  // namespace pitwall::store
