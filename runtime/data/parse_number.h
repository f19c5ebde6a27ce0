// Numbers in text files.
#pragma once

#include <charconv>
#include <string_view>

namespace pitwall::data {

// All of the text but for spaces around it.
template <class Number>
bool parseWhole(std::string_view text, Number& number) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace pitwall::data
