// Characters and parts of free text.
#pragma once

#include <cctype>
#include <cstddef>
#include <string_view>

namespace pitwall::redact {

inline bool isLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
inline bool isDigit(char c) { return c >= '0' && c <= '9'; }
inline bool isWordChar(char c) { return isLetter(c) || isDigit(c); }
inline bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool isLower(char c) { return c >= 'a' && c <= 'z'; }
inline bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
inline bool isNameChar(char c) { return isWordChar(c) || c == '_' || c == '-' || c == '.'; }

// [begin, end) of a text.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool empty() const { return end <= begin; }
};

}  // namespace pitwall::redact
