#include "analyzer/rules/text_template.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/units_text.h"
#include "db/try.h"

namespace pitwall::rules {
namespace {

struct Placeholder {
  std::string column, format;
};

constexpr std::string_view kFormats[] = {"", "%", "ns", "bytes", "bytes/s", "int", "rate"};

// "1 thread", "2 threads" for the format "#thread".
bool isCount(std::string_view format) { return format.size() > 1 && format.front() == '#'; }

bool isKnown(std::string_view format) {
  return isCount(format) || std::find(std::begin(kFormats), std::end(kFormats), format) != std::end(kFormats);
}

bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string showCount(const std::string& number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == "1" ? "" : "s");
}

std::string show(const SqlValue& value, std::string_view format) {
  if (std::holds_alternative<std::monostate>(value))
    return isCount(format) ? showCount("an unknown number of", format.substr(1)) : "unknown";
  if (const auto* text = std::get_if<std::string>(&value))
    return isCount(format) ? showCount(*text, format.substr(1)) : *text;
  const auto* integer = std::get_if<std::int64_t>(&value);
  const double number = integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
  if (format == "%") return showShare(number);
  if (format == "ns") return showDuration(number);
  if (format == "bytes") return showBytes(number);
  if (format == "bytes/s") return showScaled(number, "B/s");
  if (format == "int") return fmt::format("{:.0f}", number);
  if (format == "rate") return showRate(number);
  const std::string plain = integer != nullptr ? fmt::format("{}", *integer) : showReal(number);
  return isCount(format) ? showCount(plain, format.substr(1)) : plain;
}

// Calls `literal` and `placeholder` for the parts in order.
template <class Literal, class Visit>
Status walk(const Text& text, Literal literal, Visit visit) {
  const std::string& s = text.text;
  for (std::size_t at = 0; at < s.size();) {
    const auto open = s.find('{', at);
    literal(std::string_view(s).substr(at, open == std::string::npos ? open : open - at));
    if (open == std::string::npos) break;
    const auto close = s.find('}', open);
    if (close == std::string::npos) {
      return fail(ErrorCode::invalidInput, text.place + ": '{' without '}' in \"" + s + "\"");
    }
    const std::string inside = s.substr(open + 1, close - open - 1);
    const auto colon = inside.find(':');
    Placeholder placeholder{inside.substr(0, colon),
                            colon == std::string::npos ? "" : inside.substr(colon + 1)};
    PITWALL_TRY(visit(placeholder));
    at = close + 1;
  }
  return {};
}

Result<std::size_t> columnOf(const Text& text, const Placeholder& placeholder,
                             const std::vector<std::string>& columns) {
  if (!isKnown(placeholder.format)) {
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: unknown format '{}'; known: %, ns, bytes, bytes/s, int, rate, #noun",
                            text.place, placeholder.format));
  }
  const auto found = std::find(columns.begin(), columns.end(), placeholder.column);
  if (found == columns.end()) {
    std::string known;
    for (const auto& column : columns) known += (known.empty() ? "" : ", ") + column;
    return fail(ErrorCode::invalidInput, fmt::format("{}: '{{{}}}' is not a column of measure; it has: {}",
                                                     text.place, placeholder.column, known));
  }
  return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace

Result<std::string> expand(const Text& text, const std::vector<std::string>& columns,
                           const std::vector<SqlValue>& row) {
  std::string result;
  auto status = walk(
      text, [&](std::string_view literal) { result += literal; },
      [&](const Placeholder& placeholder) -> Status {
        auto column = PITWALL_TRY(columnOf(text, placeholder, columns));
        result += show(row[column], placeholder.format);
        return {};
      });
  PITWALL_TRY(status);
  // Templates span several lines in TOML; a sentence does not.
  std::string flat;
  for (const char c : result) {
    const bool blank = c == '\n' || c == ' ';
    if (blank && (flat.empty() || flat.back() == ' ')) continue;
    flat += blank ? ' ' : c;
  }
  if (!flat.empty() && flat.back() == ' ') flat.pop_back();
  return flat;
}

Status checkTemplate(const Text& text, const std::vector<std::string>& columns) {
  return walk(
      text, [](std::string_view) {},
      [&](const Placeholder& placeholder) -> Status {
        PITWALL_TRY(columnOf(text, placeholder, columns));
        return {};
      });
}

std::string showValue(const std::string& column, const SqlValue& value) {
  if (std::holds_alternative<std::monostate>(value)) return "-";
  if (endsWith(column, "_ns")) return show(value, "ns");
  if (endsWith(column, "_bytes")) return show(value, "bytes");
  if (endsWith(column, "share")) return show(value, "%");
  if (endsWith(column, "bytes_per_second")) return show(value, "bytes/s");
  if (endsWith(column, "per_second")) return show(value, "rate");
  return show(value, "");
}

}  // namespace pitwall::rules
