#include "db/settings/parse.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

namespace pitwall::settings {

namespace {
template <class T>
std::optional<T> parseNumber(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(text.starts_with("+-") ? 0 : 1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}
}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<bool> parseBoolean(std::string_view text) {
  std::string lower(trimmed(text));
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "1" || lower == "true") return true;
  if (lower == "0" || lower == "false") return false;
  return std::nullopt;
}

std::optional<std::int64_t> parseInteger(std::string_view text) { return parseNumber<std::int64_t>(text); }
std::optional<double> parseReal(std::string_view text) { return parseNumber<double>(text); }

}  // namespace pitwall::settings
