#include "analyzer/emit/utf8.h"

#include <algorithm>

#include "db/utf8.h"

namespace pitwall::emit {
std::string repairedUtf8(std::string_view text) {
  std::string out;
  appendUtf8(text, out, [](char) { return false; });
  return out;
}

std::string printable(std::string_view text) {
  std::string out = repairedUtf8(text);
  std::replace_if(
      out.begin(), out.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7F; },
      ' ');
  return out;
}

std::size_t columnsOf(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace pitwall::emit
