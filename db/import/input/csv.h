// Lines of comma-separated values (RFC 4180): quotes around a value, doubled within it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pitwall::import {

// The values of a line, without their quotes; at most 256.
std::vector<std::string> csvValues(std::string_view line);

// A column of a table.
struct CsvColumn {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t at = kNone;

  explicit operator bool() const { return at != kNone; }
  // Its value in a line; "" where there is none.
  std::string_view of(const std::vector<std::string>& values) const {
    return at < values.size() ? std::string_view(values[at]) : std::string_view();
  }
};

// The columns of a table by their names, in any case. A reader looks them up once, at the head of the table.
class CsvHeader {
 public:
  explicit CsvHeader(std::vector<std::string> names);

  CsvColumn operator[](std::string_view name) const;

 private:
  std::vector<std::string> names_;  // in lower case
};

}  // namespace pitwall::import
