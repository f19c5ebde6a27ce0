#include "db/import/input/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "db/json_string.h"
#include "db/utf8.h"

namespace pitwall::import {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

struct Decimal {
  bool negative = false;
  std::string_view whole;     // digits
  std::string_view fraction;  // digits
  int exponent = 0;
};

std::optional<Decimal> splitDecimal(std::string_view text) {
  Decimal out;
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) out.negative = text[at++] == '-';
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && isDigit(text[at])) ++at;
    return text.substr(from, at - from);
  };
  out.whole = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    out.fraction = digits();
  }
  if (out.whole.empty() && out.fraction.empty()) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && text[at] == '+') ++at;
    const auto parsed = std::from_chars(text.data() + at, text.data() + text.size(), out.exponent);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
    at = text.size();
  }
  if (at != text.size()) return std::nullopt;
  return out;
}

}  // namespace

std::optional<double> parseReal(std::string_view text) {
  const auto decimal = splitDecimal(text);
  if (!decimal) return std::nullopt;
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parseScaled(std::string_view text, std::int64_t scale) {
  const auto decimal = splitDecimal(text);
  if (!decimal) return std::nullopt;
  if (decimal->exponent != 0) {
    const auto real = parseReal(text);
    if (!real) return std::nullopt;
    const double scaled = std::round(*real * static_cast<double>(scale));
    if (!(std::fabs(scaled) < static_cast<double>(kLatestNs))) return std::nullopt;
    return static_cast<std::int64_t>(scaled);
  }
  std::int64_t value = 0;
  for (const char c : decimal->whole) {
    const std::int64_t digit = c - '0';
    if (value > (kLatestNs / scale - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  value *= scale;
  // Digits of the fraction add scale/10, scale/100, ...; digits after the ninth change nothing at these
  // scales.
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
  for (const char c : decimal->fraction.substr(0, 9)) {
    numerator = numerator * 10 + (c - '0');
    denominator *= 10;
  }
  const std::int64_t result = value + (numerator * scale + denominator / 2) / denominator;
  if (result >= kLatestNs) return std::nullopt;
  return decimal->negative ? -result : result;
}

std::optional<std::int64_t> parseInteger(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) return value;
  std::uint64_t wide = 0;
  parsed = std::from_chars(text.data(), text.data() + text.size(), wide);
  if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) {
    return static_cast<std::int64_t>(wide);
  }
  return std::nullopt;
}

bool appendClean(std::string_view text, std::string& out) {
  bool replaced = false;
  if (text.size() > kLongestName) {
    text = text.substr(0, kLongestName);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80) != 0) text.remove_suffix(1);
    replaced = true;
  }
  const auto isControl = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  return appendUtf8(text, out, isControl) || replaced;
}

std::string cleanJsonString(std::string_view text) {
  std::string clean;
  appendClean(text, clean);
  return jsonString(clean);
}

std::optional<std::int64_t> stepNumber(std::string_view name) {
  constexpr std::array<std::string_view, 6> kWords = {"ProfilerStep#", "iteration",     "iter",
                                                      "train_step",    "training_step", "step"};
  const auto same = [](std::string_view a, std::string_view b) {
    for (std::size_t i = 0; i < b.size(); ++i) {
      const char lower = a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] - 'A' + 'a') : a[i];
      if (lower != b[i] && a[i] != b[i]) return false;
    }
    return true;
  };
  for (const std::string_view word : kWords) {
    if (name.size() <= word.size() || !same(name.substr(0, word.size()), word)) continue;
    std::string_view rest = name.substr(word.size());
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '_' || rest.front() == '#' ||
                             rest.front() == ':' || rest.front() == '-')) {
      rest.remove_prefix(1);
    }
    if (rest.empty() || rest.size() > 12) continue;
    const auto number = parseInteger(rest);
    if (number && *number >= 0) return number;
  }
  return std::nullopt;
}

std::string quotedText(std::string_view text, std::size_t longest) {
  std::string line(text.substr(0, longest)), clean;
  // Line breaks become spaces; other control characters are replaced.
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  appendClean(line, clean);
  return "\"" + clean + (text.size() > longest ? "...\"" : "\"");
}

}  // namespace pitwall::import
