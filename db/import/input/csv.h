// Lines of comma-separated values (RFC 4180): quotes around a value, doubled within it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pitwall::import {

// The values of a line, without their quotes; at most 256.
std::vector<std::string> csvValues(std::string_view line);

// The columns of a table by their names, in any case.
class CsvHeader {
 public:
  CsvHeader() = default;
  explicit CsvHeader(std::vector<std::string> names);

  bool has(std::string_view name) const { return find(name).has_value(); }
  // The value of this column in a line; "" where there is none.
  std::string_view of(const std::vector<std::string>& values, std::string_view name) const;

 private:
  std::optional<std::size_t> find(std::string_view name) const;
  std::vector<std::string> names_;  // in lower case
};

}  // namespace pitwall::import
