// A JSON string (RFC 8259) of any text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "db/utf8.h"

namespace pitwall {

// Appends `text` quoted and escaped; each byte that is not part of well-formed UTF-8 becomes U+FFFD. Out: a
// container of char with push_back(char) and append(from, to), as std::string and fmt::memory_buffer.
template <class Out>
void appendJsonString(std::string_view text, Out& out) {
  const auto append = [&](std::string_view part) { out.append(part.data(), part.data() + part.size()); };
  const auto isPlain = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
  };
  const auto escape = [&](char c) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    switch (c) {
      case '"': return append("\\\"");
      case '\\': return append("\\\\");
      case '\n': return append("\\n");
      case '\r': return append("\\r");
      case '\t': return append("\\t");
      default: break;
    }
    append("\\u00");
    out.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    out.push_back(kDigits[static_cast<unsigned char>(c) & 0xF]);
  };
  out.push_back('"');
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && isPlain(text[plain])) ++plain;
    append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = utf8Length(text);
    if (length == 1) {
      escape(text.front());
    } else {
      append(length == 0 ? kReplacementCharacter : text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out.push_back('"');
}

inline std::string jsonString(std::string_view text) {
  std::string out;
  appendJsonString(text, out);
  return out;
}

}  // namespace pitwall
