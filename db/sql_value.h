// What a value of a query's row is as a number or a text. Values of another type, and NULL, are 0 and "".
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "db/reader.h"

namespace pitwall {

inline std::int64_t integerOf(const SqlValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer == nullptr ? 0 : *integer;
}

// Integers too.
inline double realOf(const SqlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  const auto* real = std::get_if<double>(&value);
  return real == nullptr ? 0 : *real;
}

inline std::string textOf(const SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

}  // namespace pitwall
