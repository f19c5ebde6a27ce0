#include "db/import/input/csv.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace pitwall::import {
namespace {

constexpr std::size_t kMostColumns = 256;

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

}  // namespace

std::vector<std::string> csvValues(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> values(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      values.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      if (values.size() == kMostColumns) break;
      values.emplace_back();
    } else {
      values.back() += c;
    }
  }
  return values;
}

CsvHeader::CsvHeader(std::vector<std::string> names) : names_(std::move(names)) {
  for (std::string& name : names_) name = lowered(name);
}

CsvColumn CsvHeader::operator[](std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), lowered(name));
  if (found == names_.end()) return {};
  return {static_cast<std::size_t>(found - names_.begin())};
}

}  // namespace pitwall::import
