#include "runtime/graph/attribute_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "db/check.h"
#include "db/try.h"

namespace pitwall::graph {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

template <class T>
std::optional<T> parseNumber(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> parseBoolean(std::string_view text) {
  if (text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  return std::nullopt;
}

bool isChoice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const std::size_t end = choices.find('|');
    if (choices.substr(0, end) == text) return true;
    if (end == choices.npos) break;
    choices.remove_prefix(end + 1);
  }
  return false;
}

const AttributeRule* ruleOf(std::span<const AttributeRule> rules, std::string_view name) {
  const auto found =
      std::ranges::find_if(rules, [name](const AttributeRule& rule) { return rule.name == name; });
  return found == rules.end() ? nullptr : &*found;
}

std::string allowedBy(const AttributeRule& rule) {
  const std::string range =
      rule.minimum > -kLargest ? fmt::format(" from {} to {}", rule.minimum, rule.maximum) : std::string();
  const std::string none = rule.may_be_none ? ", or None" : "";
  switch (rule.kind) {
    case AttributeKind::integer: return "an integer" + range + none;
    case AttributeKind::real: return "a number" + none;
    case AttributeKind::boolean: return "True or False" + none;
    case AttributeKind::tuple: return "integers" + range + " as in (3, 3)" + none;
    case AttributeKind::choice: {
      std::string choices = rule.choices;
      std::ranges::replace(choices, '|', '/');
      return "one of " + choices + none;
    }
    case AttributeKind::unused: break;
  }
  return "a text";
}

bool isAllowed(const AttributeRule& rule, std::string_view text) {
  if (rule.may_be_none && text == "None") return true;
  const auto inRange = [&rule](std::int64_t value) { return value >= rule.minimum && value <= rule.maximum; };
  switch (rule.kind) {
    case AttributeKind::integer: {
      const auto value = parseNumber<std::int64_t>(text);
      return value && inRange(*value);
    }
    case AttributeKind::real: {
      const auto value = parseNumber<double>(text);
      return value && !std::isnan(*value);
    }
    case AttributeKind::boolean: return parseBoolean(text).has_value();
    case AttributeKind::tuple: {
      const auto values = parseTuple(text);
      return values && std::ranges::all_of(*values, inRange);
    }
    case AttributeKind::choice: return isChoice(rule.choices, text);
    case AttributeKind::unused: return true;
  }
  return false;
}

bool isForeign(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

}  // namespace

std::optional<std::vector<std::int64_t>> parseTuple(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return std::nullopt;
  const char open = text.front();
  if (open == '(' || open == '[') {
    if (text.size() < 2 || text.back() != (open == '(' ? ')' : ']')) return std::nullopt;
    text = trimmed(text.substr(1, text.size() - 2));
  }
  std::vector<std::int64_t> values;
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    std::string_view part = trimmed(text.substr(0, end));
    if (part.ends_with('L')) part.remove_suffix(1);  // of Python 2
    const auto value = parseNumber<std::int64_t>(part);
    if (!value) return std::nullopt;
    values.push_back(*value);
    if (end == text.npos) break;
    text = trimmed(text.substr(end + 1));
  }
  return values;
}

Status checkAttributes(std::span<const AttributeRule> rules, const Attributes& attributes) {
  for (const auto& [name, value] : attributes) {
    if (isForeign(name)) continue;
    const AttributeRule* rule = ruleOf(rules, name);
    if (rule == nullptr) {
      std::string known;
      for (const AttributeRule& each : rules) known += (known.empty() ? "" : ", ") + std::string(each.name);
      return fail(ErrorCode::invalidInput, fmt::format("it has no attribute {}; {}", name,
                                                       known.empty() ? "it has none" : "it has " + known));
    }
    if (!isAllowed(*rule, value))
      return fail(ErrorCode::invalidInput,
                  fmt::format("attribute {}=\"{}\" must be {}", name, value, allowedBy(*rule)));
  }
  for (const AttributeRule& rule : rules) {
    if (rule.standard == nullptr && !attributes.contains(rule.name))
      return fail(ErrorCode::invalidInput,
                  fmt::format("the attribute {} is missing: {}", rule.name, allowedBy(rule)));
  }
  return {};
}

std::string_view AttributeReader::text(std::string_view name) const {
  const auto given = attributes_.find(std::string(name));
  if (given != attributes_.end()) return given->second;
  const AttributeRule* rule = ruleOf(rules_, name);
  PITWALL_CHECK(rule != nullptr && rule->standard != nullptr, "no attribute %.*s",
                static_cast<int>(name.size()), name.data());
  return rule->standard;
}

std::int64_t AttributeReader::integer(std::string_view name) const {
  return parseNumber<std::int64_t>(text(name)).value();
}
std::optional<std::int64_t> AttributeReader::integerOrNone(std::string_view name) const {
  return isNone(name) ? std::nullopt : parseNumber<std::int64_t>(text(name));
}
double AttributeReader::real(std::string_view name) const { return parseNumber<double>(text(name)).value(); }
bool AttributeReader::boolean(std::string_view name) const { return parseBoolean(text(name)).value(); }
std::vector<std::int64_t> AttributeReader::tuple(std::string_view name) const {
  return isNone(name) ? std::vector<std::int64_t>() : parseTuple(text(name)).value();
}
std::string_view AttributeReader::choice(std::string_view name) const { return text(name); }

}  // namespace pitwall::graph
