#include "db/import/kineto/arguments.h"

#include <fmt/format.h>

#include <cctype>
#include <cstddef>
#include <utility>

#include "db/import/input/text.h"

namespace pitwall::import {

std::string shapesOf(std::string_view dims) {
  std::string out;
  int depth = 0;
  bool first = true;
  for (const char c : dims) {
    if (c == '[') {
      ++depth;
      if (depth == 2 && !first) out += ',';
      if (depth == 2) first = false;
    } else if (c == ']') {
      --depth;
    } else if (c == ',' && depth >= 2) {
      out += 'x';
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      out += c;
    }
  }
  while (!out.empty() && out.back() == ',') out.pop_back();
  return out.size() > 512 ? out.substr(0, 512) : out;
}

std::string firstType(std::string_view types) {
  const std::size_t from = types.find('"');
  if (from == std::string_view::npos) return {};
  const std::size_t to = types.find('"', from + 1);
  if (to == std::string_view::npos) return {};
  return std::string(types.substr(from + 1, to - from - 1));
}

std::string allTypes(std::string_view types) {
  std::string out;
  for (const char c : types.substr(0, 512)) {
    if (c != '"' && c != '[' && c != ']' && c != ' ' && c != '\\' && static_cast<unsigned char>(c) > 0x20)
      out += c;
  }
  return out;
}

std::array<std::int32_t, 3> extents(std::string_view array) {
  std::array<std::int32_t, 3> out{};
  std::size_t dimension = 0;
  for (const char c : array) {
    if (c == ',' && ++dimension == out.size()) break;
    if (c < '0' || c > '9') continue;
    std::int32_t& extent = out[dimension];
    if (extent > (INT32_MAX - 9) / 10) return {};
    extent = extent * 10 + (c - '0');
  }
  return out;
}

std::int64_t sizeOfType(std::string_view type) {
  constexpr std::pair<std::string_view, std::int64_t> kSizes[] = {
      {"Float", 4}, {"Double", 8}, {"Half", 2}, {"BFloat16", 2}, {"Int", 4},
      {"Long", 8},  {"Char", 1},   {"Byte", 1}, {"Bool", 1},     {"Short", 2},
      {"float", 4}, {"double", 8}, {"half", 2}, {"int", 4},      {"long", 8}};
  for (const auto& [name, size] : kSizes) {
    if (type == name) return size;
  }
  return 0;
}

void ObjectText::number(std::string_view key, const std::optional<std::int64_t>& value) {
  if (value) text_ += fmt::format("{}\"{}\":{}", separator(), key, *value);
}

void ObjectText::string(std::string_view key, const JsonValue& raw) {
  if (raw.type != JsonType::string || raw.text.find('\\') != std::string_view::npos) return;
  std::string clean;
  appendClean(raw.text.substr(0, 256), clean);
  text_ += fmt::format("{}\"{}\":\"{}\"", separator(), key, clean);
}

}  // namespace pitwall::import
