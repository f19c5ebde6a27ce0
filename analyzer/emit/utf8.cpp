#include "analyzer/emit/utf8.h"

#include <algorithm>

#include "db/utf8.h"

namespace pitwall::emit {
std::string repairedUtf8(std::string_view text) {
  std::string out;
  appendUtf8(text, out, [](char) { return false; });
  return out;
}

namespace {

// Of the well-formed sequence at the front.
char32_t codePointOf(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  switch (sequence.size()) {
    case 1: return byte(0);
    case 2: return (byte(0) & 0x1FU) << 6 | (byte(1) & 0x3FU);
    case 3: return (byte(0) & 0x0FU) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU);
    default:
      return (byte(0) & 0x07U) << 18 | (byte(1) & 0x3FU) << 12 | (byte(2) & 0x3FU) << 6 | (byte(3) & 0x3FU);
  }
}

bool isWithin(char32_t point, char32_t from, char32_t to) { return point >= from && point <= to; }

// Would move the cursor, end the line or reverse the text after it.
bool movesText(char32_t point) {
  return point < 0x20 || isWithin(point, 0x7F, 0x9F) || isWithin(point, 0x200E, 0x200F) ||
         isWithin(point, 0x2028, 0x202E) || isWithin(point, 0x2066, 0x2069);
}

// East Asian writing and pictures take two columns of a terminal, marks on the letter before them none (in
// blocks of Unicode 15).
std::size_t columnsOfPoint(char32_t point) {
  if (isWithin(point, 0x300, 0x36F) || isWithin(point, 0x200B, 0x200D) || isWithin(point, 0xFE00, 0xFE0F))
    return 0;
  const bool wide = isWithin(point, 0x1100, 0x115F) || isWithin(point, 0x2E80, 0xA4CF) ||
                    isWithin(point, 0xAC00, 0xD7A3) || isWithin(point, 0xF900, 0xFAFF) ||
                    isWithin(point, 0xFE30, 0xFE6F) || isWithin(point, 0xFF00, 0xFF60) ||
                    isWithin(point, 0xFFE0, 0xFFE6) || isWithin(point, 0x1F300, 0x1FAFF) ||
                    isWithin(point, 0x20000, 0x3FFFD);
  return wide ? 2 : 1;
}

// A byte that is not part of well-formed UTF-8 is one by itself.
std::string_view firstSequence(std::string_view text) {
  return text.substr(0, std::max<std::size_t>(1, utf8Length(text)));
}

std::size_t columnsOfSequence(std::string_view sequence) {
  return sequence.size() == 1 ? 1 : columnsOfPoint(codePointOf(sequence));
}

}  // namespace

std::string printable(std::string_view text) {
  const std::string repaired = repairedUtf8(text);
  std::string out;
  for (std::string_view rest = repaired; !rest.empty();) {
    const auto sequence = rest.substr(0, utf8Length(rest));
    if (movesText(codePointOf(sequence))) {
      out += ' ';
    } else {
      out += sequence;
    }
    rest.remove_prefix(sequence.size());
  }
  return out;
}

std::size_t columnsOf(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const auto sequence = firstSequence(text);
    columns += columnsOfSequence(sequence);
    text.remove_prefix(sequence.size());
  }
  return columns;
}

std::string shortened(std::string_view text, std::size_t columns, std::string_view ending) {
  std::size_t used = 0, kept = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const auto sequence = firstSequence(rest);
    used += columnsOfSequence(sequence);
    if (used > columns) return std::string(text.substr(0, kept)) += ending;
    rest.remove_prefix(sequence.size());
    if (used < columns) kept = text.size() - rest.size();
  }
  return std::string(text);
}

}  // namespace pitwall::emit
