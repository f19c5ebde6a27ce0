// Texts of arguments that PyTorch's profiler writes: shapes, types, extents.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/import/input/json.h"

namespace pitwall::import {

// "[[64, 3], [3]]" -> "64x3,3"
std::string shapesOf(std::string_view dims);
// The first name of "["float", "Scalar"]".
std::string firstType(std::string_view types);
// All of them, separated by commas.
std::string allTypes(std::string_view types);
// "[512, 1, 1]"
std::array<std::int32_t, 3> extents(std::string_view array);
// Bytes of an element, 0 when the type is not known.
std::int64_t sizeOfType(std::string_view type);

// A JSON object, member by member; text() is empty when it has none.
class ObjectText {
 public:
  void number(std::string_view key, const std::optional<std::int64_t>& value);
  // `raw` as in the JSON file, truncated when it is long; left out when empty.
  void string(std::string_view key, const JsonValue& raw);
  std::string text() const { return text_.empty() ? text_ : text_ + "}"; }

 private:
  char separator() const { return text_.empty() ? '{' : ','; }
  std::string text_;
};

}  // namespace pitwall::import
