// A name of a table or column as SQL text. Values are bound to parameters and need no quoting.
#pragma once

#include <string>
#include <string_view>

namespace pitwall::store {

// In double quotes, so that a name may hold any character and be a keyword.
inline std::string sqlName(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

}  // namespace pitwall::store
