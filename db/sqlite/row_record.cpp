#include "db/sqlite/row_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace pitwall::store {

namespace {

constexpr std::size_t kMostColumns = 32767;  // SQLite's own limit

// As sqlite3_column_int64() converts a real: clamped to the range.
std::int64_t truncated(double value) {
  constexpr double kLimit = 9223372036854775808.0;
  if (!(value > -kLimit)) return value <= -kLimit ? std::numeric_limits<std::int64_t>::min() : 0;
  return value >= kLimit ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(value);
}

// The leading digits, as sqlite3_column_int64() converts text.
std::int64_t leadingInteger(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n\v\f\r");
  if (begin == std::string_view::npos) return 0;
  text.remove_prefix(begin);
  if (text.front() == '+') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc::result_out_of_range) return value;
  return text.front() == '-' ? std::numeric_limits<std::int64_t>::min()
                             : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

bool RowRecord::readHeader(std::span<const std::byte> row, Layout& layout) {
  layout.header.clear();
  std::uint64_t header_size = 0;
  std::size_t at = readVarint(row, header_size);
  if (at == 0 || header_size < at || header_size > row.size()) return false;
  const std::span<const std::byte> header = row.first(static_cast<std::size_t>(header_size));
  std::size_t offset = header.size();
  all_.clear();
  while (at < header.size()) {
    std::uint64_t type = 0;
    const std::size_t taken = readVarint(header.subspan(at), type);
    if (taken == 0 || all_.size() == kMostColumns) return false;
    at += taken;
    if (type == 10 || type == 11) type = 0;  // SQLite's own use; never in a file
    if (sizeOf(type) > row.size() - offset) return false;
    all_.push_back({type, offset});
    offset += sizeOf(type);
  }
  layout.needed = header.size();
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const bool there = positions_[i] >= 0 && static_cast<std::size_t>(positions_[i]) < all_.size();
    layout.cells[i] = there ? all_[static_cast<std::size_t>(positions_[i])] : Cell{};
    layout.needed = std::max(layout.needed, layout.cells[i].offset + sizeOf(layout.cells[i].type));
  }
  layout.header.assign(header.begin(), header.end());
  return true;
}

std::string_view RowRecord::numberAsText(std::size_t cell) const {
  texts_.resize(positions_.size());
  std::string& text = texts_[cell];
  text = at(cell).type == 7 ? fmt::format("{:#.15g}", real(cell)) : std::to_string(integer(cell));
  return text;
}

std::int64_t RowRecord::rarerInteger(const Cell& cell) const {
  if (cell.type == 7) return truncated(std::bit_cast<double>(bigEndian<std::uint64_t>(cell.offset)));
  if (cell.type >= 12)
    return leadingInteger({reinterpret_cast<const char*>(row_ + cell.offset), sizeOf(cell.type)});
  // Three bytes.
  std::uint64_t bits = 0;
  const std::size_t size = sizeOf(cell.type);
  for (std::size_t i = 0; i < size; ++i)
    bits = bits << 8 | std::to_integer<std::uint64_t>(row_[cell.offset + i]);
  const int unused = static_cast<int>(64 - 8 * size);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

}  // namespace pitwall::store
