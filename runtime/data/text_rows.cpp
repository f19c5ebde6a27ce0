#include "runtime/data/text_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "db/try.h"

namespace pitwall::data {

Result<TextRows> TextRows::open(const std::string& path) {
  OpenFile file = PITWALL_TRY(OpenFile::open(path));
  TextRows rows(std::move(file));
  PITWALL_TRY(rows.find());
  return rows;
}

Status TextRows::find() {
  std::vector<std::uint8_t> piece(std::size_t{1} << 20);
  Bytes begin = 0;  // of the line
  bool empty = true;
  std::int64_t empty_lines = 0;
  const auto end = [&](Bytes at) {
    if (empty) {
      ++empty_lines;
    } else {
      if (empty_lines != (gaps_.empty() ? 0 : gaps_.back().empty_lines))
        gaps_.push_back({count(), empty_lines});
      rows_.push_back(begin);
      end_ = at;
    }
    begin = at + 1;
    empty = true;
  };
  for (Bytes at = 0; at < file_.size();) {
    const auto bytes = std::span(piece).first(
        static_cast<std::size_t>(std::min<Bytes>(static_cast<Bytes>(piece.size()), file_.size() - at)));
    PITWALL_TRY(file_.readAt(at, bytes));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == '\n')
        end(at + static_cast<Bytes>(i));
      else if (empty)
        empty = bytes[i] == '\r' || bytes[i] == ' ';
      if (empty || bytes[i] == '\n') continue;
      // The rest of the line.
      const auto* next = static_cast<const std::uint8_t*>(std::memchr(&bytes[i], '\n', bytes.size() - i));
      i = next == nullptr ? bytes.size() : static_cast<std::size_t>(next - bytes.data()) - 1;
    }
    at += static_cast<Bytes>(bytes.size());
  }
  if (!empty) end(file_.size());
  return {};
}

Result<std::string_view> TextRows::read(std::int64_t row, std::string& buffer) const {
  const auto index = static_cast<std::size_t>(row);
  const Bytes begin = rows_[index], end = index + 1 < rows_.size() ? rows_[index + 1] : end_;
  buffer.resize(static_cast<std::size_t>(end - begin));
  PITWALL_TRY(file_.readAt(begin, {reinterpret_cast<std::uint8_t*>(buffer.data()), buffer.size()}));
  // Up to the next row there may be empty lines.
  std::string_view line = std::string_view(buffer).substr(0, buffer.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::int64_t TextRows::lineOf(std::int64_t row) const {
  const auto behind = std::upper_bound(gaps_.begin(), gaps_.end(), row,
                                       [](std::int64_t r, const Gap& gap) { return r < gap.row; });
  return row + 1 + (behind == gaps_.begin() ? 0 : std::prev(behind)->empty_lines);
}

Failure TextRows::wrong(std::int64_t row, std::string_view what) const {
  if (file_.hasChanged())
    return fail(ErrorCode::io,
                fmt::format("{}: was written anew while it was read; write a new file and rename it "
                            "instead, and start again",
                            path()));
  return fail(ErrorCode::invalidInput, fmt::format("{}: line {}: {}", path(), lineOf(row), what));
}

}  // namespace pitwall::data
