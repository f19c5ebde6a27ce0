// UTF-8 validation, for code that reads text from files or shows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pitwall {

// The replacement for bytes that are not text: U+FFFD.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

// Length of the well-formed sequence at the front, 0 when there is none (RFC 3629: no overlong forms, no
// surrogates, at most U+10FFFF). Precondition: !text.empty().
inline std::size_t utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool wrong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
                     (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F);
  return wrong ? 0 : length;
}

// Appends the text, with every byte that is not part of well-formed UTF-8, or for which `refused` says so,
// as U+FFFD. Returns whether there was one.
template <class Refused>
bool appendUtf8(std::string_view text, std::string& out, Refused refused) {
  bool replaced = false;
  while (!text.empty()) {
    const std::size_t length = refused(text.front()) ? 0 : utf8Length(text);
    out += length == 0 ? kReplacementCharacter : text.substr(0, length);
    replaced = replaced || length == 0;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return replaced;
}

}  // namespace pitwall
