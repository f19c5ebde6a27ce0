#include "db/escaped.h"

#include <cstdint>

#include "db/utf8.h"

namespace pitwall {

namespace {

void appendHex(std::uint8_t byte, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += "\\x";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

// U+0000 to U+001F and U+007F to U+009F.
bool isControl(std::string_view sequence) {
  const auto first = static_cast<std::uint8_t>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  return sequence.size() == 2 && first == 0xC2 && static_cast<std::uint8_t>(sequence[1]) < 0xA0;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8Length(text);
    const std::string_view part = text.substr(0, length == 0 ? 1 : length);
    if (part == "\n") {
      out += "\\n";
    } else if (part == "\t") {
      out += "\\t";
    } else if (part == "\r") {
      out += "\\r";
    } else if (length == 0 || isControl(part)) {
      for (const char byte : part) appendHex(static_cast<std::uint8_t>(byte), out);
    } else {
      out += part;
    }
    text.remove_prefix(part.size());
  }
  return out;
}

}  // namespace pitwall
