// Decodes a row of a table from its record in a page: a header with the type and size of each value, then the
// values.
//
// Rows of one table mostly have one of a few headers (numbers of the same sizes): then the values are at the
// same offsets as in an earlier row, and the header is only compared.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pitwall::store {

// A number of 1 to 9 bytes at the front of `bytes`; returns the number of bytes, 0 when they end too early.
inline std::size_t readVarint(std::span<const std::byte> bytes, std::uint64_t& value) {
  value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 9; ++i) {
    const auto byte = std::to_integer<std::uint64_t>(bytes[i]);
    if (i == 8) {
      value = value << 8 | byte;
      return 9;
    }
    value = value << 7 | (byte & 0x7f);
    if (byte < 0x80) return i + 1;
  }
  return 0;
}

class RowRecord {
 public:
  // Reads the values at these positions of the row; -1 is always null.
  explicit RowRecord(std::vector<int> positions)
      : positions_(std::move(positions)),
        layouts_(kLayouts, Layout{{}, 0, std::vector<Cell>(positions_.size())}) {}

  // The row's memory must stay valid while its values are read. False when it is damaged.
  bool read(std::span<const std::byte> row) {
    row_ = row.data();
    if (fits(layouts_[current_], row)) return true;
    for (current_ = 0; current_ < kLayouts; ++current_) {
      if (fits(layouts_[current_], row)) return true;
    }
    current_ = next_++ % kLayouts;
    return readHeader(row, layouts_[current_]);
  }

  // Indexed in the order of the positions; converted as by sqlite3_column_...().
  bool isNull(std::size_t cell) const { return at(cell).type == 0; }
  std::int64_t integer(std::size_t cell) const {
    const Cell& at = this->at(cell);
    switch (at.type) {
      case 0:
      case 8: return 0;
      case 9: return 1;
      case 1: return static_cast<std::int8_t>(row_[at.offset]);
      case 2: return static_cast<std::int16_t>(bigEndian<std::uint16_t>(at.offset));
      case 4: return static_cast<std::int32_t>(bigEndian<std::uint32_t>(at.offset));
      case 5:  // six bytes, as times have
        return static_cast<std::int64_t>(static_cast<std::int16_t>(bigEndian<std::uint16_t>(at.offset))) *
                   (std::int64_t{1} << 32) +
               bigEndian<std::uint32_t>(at.offset + 2);
      case 6: return static_cast<std::int64_t>(bigEndian<std::uint64_t>(at.offset));
      default: return rarerInteger(at);
    }
  }
  double real(std::size_t cell) const {
    const Cell& at = this->at(cell);
    return at.type == 7 ? std::bit_cast<double>(bigEndian<std::uint64_t>(at.offset))
                        : static_cast<double>(integer(cell));
  }
  std::string_view text(std::size_t cell) const {
    const Cell& at = this->at(cell);
    if (at.type < 12) return at.type == 0 ? std::string_view() : numberAsText(cell);
    return {reinterpret_cast<const char*>(row_ + at.offset), sizeOf(at.type)};
  }

 private:
  struct Cell {
    std::uint64_t type =
        0;  // 0 null, 1 to 6 integers, 7 real, 8 and 9 the numbers 0 and 1, then blob and text
    std::size_t offset = 0;
  };

  struct Layout {
    std::vector<std::byte> header;  // empty: none yet
    std::size_t needed = 0;         // bytes of a row with that header up to the end of the last cell
    std::vector<Cell> cells;
  };
  static constexpr std::size_t kLayouts = 8;

  const Cell& at(std::size_t cell) const { return layouts_[current_].cells[cell]; }
  static bool fits(const Layout& layout, std::span<const std::byte> row) {
    const std::size_t size = layout.header.size();
    if (size == 0 || row.size() < layout.needed) return false;
    const auto differ = [&](std::size_t at) {
      std::uint64_t a = 0, b = 0;
      std::memcpy(&a, row.data() + at, sizeof a);
      std::memcpy(&b, layout.header.data() + at, sizeof b);
      return a != b;
    };
    // Word by word, the last one overlapping: a call of memcmp costs as much as the rest of the row.
    if (size < 8) return std::memcmp(row.data(), layout.header.data(), size) == 0;
    for (std::size_t at = 0; at + 8 <= size; at += 8) {
      if (differ(at)) return false;
    }
    return !differ(size - 8);
  }

  static std::size_t sizeOf(std::uint64_t type) {
    constexpr std::uint8_t kSizes[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
    return type < 12 ? kSizes[type] : static_cast<std::size_t>((type - 12) / 2);
  }

  template <class Number>
  Number bigEndian(std::size_t offset) const {
    Number number;
    std::memcpy(&number, row_ + offset, sizeof number);
    if constexpr (sizeof number == 2) return __builtin_bswap16(number);
    if constexpr (sizeof number == 4) return __builtin_bswap32(number);
    if constexpr (sizeof number == 8) return __builtin_bswap64(number);
  }

  bool readHeader(std::span<const std::byte> row, Layout& layout);
  std::int64_t rarerInteger(const Cell& cell) const;
  std::string_view numberAsText(std::size_t cell) const;

  const std::vector<int> positions_;
  const std::byte* row_ = nullptr;
  std::vector<Layout> layouts_;
  std::size_t current_ = 0;                 // of the row
  std::size_t next_ = 0;                    // to be replaced
  std::vector<Cell> all_;                   // scratch of readHeader()
  mutable std::vector<std::string> texts_;  // of numbers, by cell
};

}  // namespace pitwall::store
